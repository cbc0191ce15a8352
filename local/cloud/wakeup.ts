import type { Clock } from '../../runtime/clock.ts';

/** Lets loops sleep until something happens: no polling, and no timer unless a time is known. */
export interface Wakeup {
  /** Wakes everyone who waits now. */
  notify(): void;
  /** Resolves on the next `notify`, at `dueAt` (milliseconds since the epoch) if given, or when `signal` aborts. */
  wait(signal: AbortSignal, dueAt?: number): Promise<void>;
}

export function createWakeup(clock: Clock): Wakeup {
  const waiters = new Set<() => void>();
  return {
    notify: () => {
      for (const wake of waiters) wake();
    },
    wait: (signal, dueAt) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const timer = new AbortController();
        const wake = () => {
          waiters.delete(wake);
          signal.removeEventListener('abort', wake);
          timer.abort();
          resolve();
        };
        waiters.add(wake);
        signal.addEventListener('abort', wake, { once: true });
        if (dueAt === undefined) return;
        // At least 1 ms: timers may fire a little early, and the caller then asks again.
        clock.sleep(Math.max(1, dueAt - clock.now()), timer.signal).then(wake, () => {});
      }),
  };
}
