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

/** Of a function that only has to stop and answer. */
const SHORT_MARGIN = { share: 0.1, maxMilliseconds: 15_000 } as const;

/** How long such a function may work, so that it ends well before Lambda would end it. */
export function workingMilliseconds(
  context: Pick<InvocationContext, 'getRemainingTimeInMillis'>,
): number {
  const remaining = context.getRemainingTimeInMillis();
  const margin = Math.min(remaining * SHORT_MARGIN.share, SHORT_MARGIN.maxMilliseconds);
  return Math.max(0, Math.floor(remaining - margin));
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
