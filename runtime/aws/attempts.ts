import type { Clock } from '../clock.ts';
import { isPassing } from './call-error.ts';

/** How long to go on with a call that fails for a reason that passes. */
export interface Patience {
  readonly clock: Clock;
  /** Between 0 and 1. Default: Math.random. */
  readonly random?: (() => number) | undefined;
  readonly attempts: number;
  /** No further attempt is begun after this time, whatever `attempts` says. */
  readonly milliseconds: number;
}

const BASE_MILLISECONDS = 50;
const MAX_MILLISECONDS = 5_000;

/** Makes a call until it is answered; a failure that does not pass is thrown at once. */
export async function attempted<T>(
  call: () => Promise<T>,
  patience: Patience,
  signal?: AbortSignal,
): Promise<T> {
  const attempts = createAttempts(patience);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || !attempts.left()) throw error;
      await attempts.pause(signal);
    }
  }
}

export interface Attempts {
  /** Attempts that have failed; the first `pause` comes after one. */
  readonly made: number;
  /** Call it after a failure: whether another attempt may follow. */
  left(): boolean;
  pause(signal?: AbortSignal): Promise<void>;
}

export function createAttempts({ clock, random = Math.random, ...limit }: Patience): Attempts {
  const until = clock.now() + limit.milliseconds;
  let made = 0;
  return {
    get made() {
      return made;
    },
    left() {
      made += 1;
      return made < limit.attempts && clock.now() < until;
    },
    // Full jitter: callers that failed together must not come back together.
    pause: (signal) =>
      clock.sleep(random() * Math.min(MAX_MILLISECONDS, BASE_MILLISECONDS * 2 ** made), signal),
  };
}
