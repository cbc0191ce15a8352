import type { Clock } from '../../runtime/clock.ts';

/** Time that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /** Wakes every sleeper that is due on the way, in order, and lets it act before time goes on. */
  advance(milliseconds: number): Promise<void>;
  /** Sleepers now. */
  readonly timers: number;
}

interface Sleeper {
  readonly dueAt: number;
  readonly wake: () => void;
}

export function createVirtualClock(startAt = Date.UTC(2026, 0, 1)): VirtualClock {
  let now = startAt;
  const sleepers = new Set<Sleeper>();
  const nextDue = (until: number) =>
    [...sleepers]
      .filter(({ dueAt }) => dueAt <= until)
      .sort((one, other) => one.dueAt - other.dueAt)[0];
  return {
    now: () => now,
    get timers() {
      return sleepers.size;
    },
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const settle = (done: () => void) => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', onAbort);
          done();
        };
        const onAbort = () => settle(() => reject(signal?.reason));
        const sleeper = { dueAt: now + milliseconds, wake: () => settle(resolve) };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    advance: async (milliseconds) => {
      const until = now + milliseconds;
      await settled();
      for (let due = nextDue(until); due; due = nextDue(until)) {
        now = Math.max(now, due.dueAt);
        due.wake();
        await settled();
      }
      now = until;
      await settled();
    },
  };
}

/** Every promise that can go on without time passing has gone on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
