import { seededRandom } from '../../local/seeded-random.ts';
import type { CallFault, Faults } from './settings.ts';

/** What goes wrong in a run: the same again for the same order of calls. */
export interface Chance {
  /** The fault of the next call, and whether the call is carried out all the same. */
  next(): { readonly fault: CallFault | undefined; readonly carriedOut: boolean };
  /** False if the next delete of a batch is left unprocessed. */
  keep(): boolean;
  counts(): Readonly<Record<CallFault, number>>;
}

const faultNames: readonly CallFault[] = ['serverError', 'reset', 'hang'];

export function createChance(faults: Faults | undefined): Chance {
  const random = seededRandom(1);
  const counts = { serverError: 0, reset: 0, hang: 0 };

  function pick(): CallFault | undefined {
    let dice = random();
    return faultNames.find((name) => {
      dice -= faults?.[name] ?? 0;
      return dice < 0;
    });
  }

  return {
    next() {
      if (!faults) return { fault: undefined, carriedOut: true };
      const fault = pick();
      if (fault === undefined) return { fault, carriedOut: true };
      counts[fault] += 1;
      return { fault, carriedOut: counts[fault] % 2 === 0 };
    },
    keep: () => !faults || random() >= faults.unprocessed,
    counts: () => counts,
  };
}
