import { createLine } from '../../../local/cloud/line.ts';
import { TooManyRequestsError } from '../../../local/lambda/invocation.ts';

export interface Slots {
  take(whenBusy: 'wait' | 'reject'): Promise<void>;
  free(): void;
  /** Who waits, and who comes later, gets an error. */
  close(): void;
}

/** As many runs as are allowed; who comes later waits, first come first served. */
export function createSlots(name: string, max: number): Slots {
  const waiting = createLine<PromiseWithResolvers<void>>();
  const stopped = new Error(`function ${name} was stopped`);
  let taken = 0;
  let open = true;
  return {
    take: async (whenBusy: 'wait' | 'reject'): Promise<void> => {
      if (!open) throw stopped;
      if (taken < max) {
        taken += 1;
        return;
      }
      if (whenBusy === 'reject') throw new TooManyRequestsError(name, max);
      const turn = Promise.withResolvers<void>();
      waiting.push(turn);
      await turn.promise;
    },
    /** Handed on directly: nobody who comes later can take it in between. */
    free: (): void => {
      const next = waiting.shift();
      if (next) next.resolve();
      else taken -= 1;
    },
    close: (): void => {
      open = false;
      for (let next = waiting.shift(); next; next = waiting.shift()) next.reject(stopped);
    },
  };
}
