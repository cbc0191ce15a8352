import { TransientError } from './errors.ts';
import type { InvocationContext } from './platform.ts';

export interface Deadline {
  /** Aborts early enough to finish what is under way and to store where the work is. */
  readonly signal: AbortSignal;
  /** When the function is killed, in milliseconds since the epoch. */
  readonly at: number;
  /** Between the two. */
  readonly windUpMilliseconds: number;
  /** The work is done: a warm function must not collect timers. */
  clear(): void;
}

const MAX_MARGIN_MILLISECONDS = 30_000;
/** A short timeout leaves less time to wind up in, but never none. */
const MARGIN_SHARE = 0.3;

export function createDeadline(context: InvocationContext, now: number): Deadline {
  const remaining = Math.max(context.getRemainingTimeInMillis(), 0);
  const windUpMilliseconds = Math.min(MAX_MARGIN_MILLISECONDS, remaining * MARGIN_SHARE);
  const stop = new AbortController();
  // Whoever throws the signal's reason is not a bug: the world was too slow for one run.
  const reason = new TransientError('DeadlineExceeded', 'this did not end in the time of one run');
  const timer = setTimeout(() => stop.abort(reason), remaining - windUpMilliseconds);
  return {
    signal: stop.signal,
    at: now + remaining,
    windUpMilliseconds,
    clear: () => clearTimeout(timer),
  };
}
