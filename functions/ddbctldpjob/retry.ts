import type { Clock } from '../../runtime/clock.ts';
import { TransientError } from '../../runtime/errors.ts';
import { TableFault } from './table.ts';

export interface RetryOptions {
  readonly clock: Clock;
  /** Between 0 and 1. Default: Math.random. */
  readonly random?: (() => number) | undefined;
  /** Failures in a row of one call, with no other call answered meanwhile, before all is given up. Default 10. */
  readonly maxFailures?: number | undefined;
  /** Throttled answers in a row to one call. Default: no limit, the signal ends it. */
  readonly maxThrottles?: number | undefined;
  /** Once it aborts there is little time left: waits end, and are short from then on. Default: never. */
  readonly hurry?: AbortSignal | undefined;
}

/** Sends a call until it is answered. Calls that share one `Retry` share the knowledge whether the service is there. */
export interface Retry {
  /** @param signal asked before each wait, which it then can end: how long to be patient may change on the way */
  call<T>(attempt: () => Promise<T>, signal: () => AbortSignal): Promise<T>;
  /** Waits before more is asked of a service that has been overloaded `times` in a row. */
  pause(times: number, signal: AbortSignal): Promise<void>;
}

const BASE_MS = 50;
const CAP_MS = 5_000;
const HURRIED_CAP_MS = 100;

export function createRetry(options: RetryOptions): Retry {
  const { clock, random = Math.random, maxFailures = 10, maxThrottles = Infinity } = options;
  const { hurry } = options;
  let answers = 0;

  async function pause(times: number, signal: AbortSignal): Promise<void> {
    const longest = hurry?.aborted ? HURRIED_CAP_MS : CAP_MS;
    // Full jitter: callers that failed together must not come back together.
    const milliseconds = random() * Math.min(longest, BASE_MS * 2 ** times);
    if (hurry === undefined || hurry.aborted) return clock.sleep(milliseconds, signal);
    try {
      await clock.sleep(milliseconds, AbortSignal.any([signal, hurry]));
    } catch (error) {
      signal.throwIfAborted();
      if (!hurry.aborted) throw error;
    }
  }

  async function call<T>(attempt: () => Promise<T>, signal: () => AbortSignal): Promise<T> {
    let failures = 0;
    let throttles = 0;
    let answersSeen = answers;
    for (;;) {
      try {
        const reply = await attempt();
        answers += 1;
        return reply;
      } catch (error) {
        if (!(error instanceof TableFault)) throw error;
        const isThrottle = error.kind === 'throttled';
        if (isThrottle) answers += 1;
        // Others are answered: the service is there, and this call just had bad luck.
        failures = answers === answersSeen ? failures + 1 : Number(!isThrottle);
        throttles = isThrottle ? throttles + 1 : 0;
        answersSeen = answers;
        // In a hurry the signal ends it soon, and every try may be the one that succeeds.
        const isEnough = failures >= maxFailures || throttles >= maxThrottles;
        if (isEnough && !hurry?.aborted) throw giveUp(error, failures);
      }
      await pause(Math.max(failures, throttles) - 1, signal());
    }
  }

  return { call, pause };
}

function giveUp(last: TableFault, failures: number): TransientError {
  const reason = last.kind === 'throttled' ? 'DynamoDBThrottled' : 'DynamoDBUnavailable';
  const tries = last.kind === 'throttled' ? 'too often' : `${failures} times in a row`;
  return new TransientError(reason, `${last.message} (${tries})`, { cause: last });
}
