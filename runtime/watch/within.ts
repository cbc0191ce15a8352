import type { Clock } from '../clock.ts';

export interface TimeLimit {
  readonly clock: Clock;
  readonly milliseconds: number;
  /** Ends the wait early, with its reason. */
  readonly signal?: AbortSignal;
}

export class TimeLimitError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
    this.name = 'TimeLimitError';
  }
}

/** Waits for `work`, but not longer than the limit. The work itself is not stopped: that is the caller's to do. */
export async function within<T>(work: Promise<T>, limit: TimeLimit): Promise<T> {
  const wait = new AbortController();
  const onAbort = () => wait.abort(limit.signal?.reason);
  if (limit.signal?.aborted) onAbort();
  limit.signal?.addEventListener('abort', onAbort, { once: true });
  const timeout = limit.clock.sleep(limit.milliseconds, wait.signal).then(() => {
    throw new TimeLimitError(limit.milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    limit.signal?.removeEventListener('abort', onAbort);
    wait.abort();
    // The loser of the race may still reject; that has no reader any more and no meaning.
    timeout.catch(ignore);
    work.catch(ignore);
  }
}

const ignore = () => undefined;
