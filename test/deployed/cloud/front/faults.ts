import { seededRandom } from '../../../../local/seeded-random.ts';

/** What goes wrong with a call. */
export type FaultEffect =
  /** Answered with an error, not carried out. */
  | { readonly status: number; readonly code?: string }
  /** This share of the entries (0 to 1) is refused singly, in an answer with status 200. */
  | { readonly failEntries: number }
  /** The connection ends before anything is done. */
  | { readonly reset: true }
  /** Carried out, but the connection ends before the answer. */
  | { readonly lostReply: true }
  /** Never answered, not carried out. */
  | { readonly hang: true };

export type Fault = FaultEffect & {
  readonly service: string;
  readonly action: string;
  /** So many calls. Default 1. */
  readonly times?: number;
  /** Of which role's or function's calls. Default: of all. */
  readonly principal?: string;
};

export interface Faults {
  add(fault: Fault): void;
  /** The effect on this call, which is then used up by one. */
  take(service: string, action: string, principal: string): FaultEffect | undefined;
  /** Whether an entry is to fail: the same again for the same order of calls. */
  readonly random: () => number;
}

export function createFaults(): Faults {
  const active: { readonly fault: Fault; left: number }[] = [];
  return {
    random: seededRandom(1),
    add: (fault) => {
      active.push({ fault, left: fault.times ?? 1 });
    },
    take(service, action, principal) {
      const found = active.find(
        ({ fault, left }) =>
          left > 0 &&
          fault.service === service &&
          fault.action === action &&
          (fault.principal ?? principal) === principal,
      );
      if (!found) return undefined;
      found.left -= 1;
      return found.fault;
    },
  };
}
