import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';

export interface VirtualClock extends Clock {
  /** Runs until `work` settles; whenever everything waits, time jumps to the next sleeper. */
  run<T>(work: Promise<T>): Promise<T>;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Enough turns of the event loop for in-memory streams to hand on what they have. */
const TURNS = 4;

export function createVirtualClock(): VirtualClock {
  let now = Date.UTC(2026, 0, 1);
  const sleepers = new Set<Sleeper>();

  const wakeNext = () => {
    const [next] = [...sleepers].sort((a, b) => a.at - b.at);
    if (!next) throw new Error('everything waits, and nothing for a time');
    sleepers.delete(next);
    now = Math.max(now, next.at);
    next.wake();
  };
  return {
    now: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const onAbort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        };
        const sleeper: Sleeper = { at: now + milliseconds, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    async run(work) {
      let settled = false;
      const mark = () => {
        settled = true;
      };
      work.then(mark, mark);
      for (;;) {
        for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
        if (settled) return work;
        wakeNext();
      }
    },
  };
}
