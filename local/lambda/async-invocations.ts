import type { Clock } from '../../runtime/clock.ts';
import { describeError, type Log, type LogFields } from '../../runtime/log.ts';
import type { InvocationResult } from './invocation.ts';

export interface AsyncInvocationOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends retries. */
  readonly signal: AbortSignal;
}

export interface AsyncInvocation {
  readonly functionName: string;
  readonly requestId: string;
  /** One try. */
  readonly run: () => Promise<InvocationResult>;
}

/** Lambda tries a failed asynchronous invocation again after one minute, then after two more. */
const RETRY_SECONDS = [60, 120] as const;

/** Sees an asynchronous invocation through. Never rejects: its caller has gone long ago. */
export async function runAsynchronously(
  { functionName, requestId, run }: AsyncInvocation,
  { clock, log, signal }: AsyncInvocationOptions,
): Promise<void> {
  for (const retryAfterSeconds of [...RETRY_SECONDS, undefined]) {
    const failure = await tryOnce(run);
    if (failure === undefined || signal.aborted) return;
    const fields = { functionName, requestId, ...failure };
    if (retryAfterSeconds === undefined) {
      return log.error('asynchronous invocation dropped after its last try', fields);
    }
    log.info('asynchronous invocation failed, will try again', { ...fields, retryAfterSeconds });
    await clock.sleep(retryAfterSeconds * 1000, signal).catch(() => {});
    if (signal.aborted) return;
  }
}

async function tryOnce(run: AsyncInvocation['run']): Promise<LogFields | undefined> {
  try {
    const result = await run();
    if (result.result === 'ok') return undefined;
    const { errorType, errorMessage } = result.error;
    return { errorType, errorMessage };
  } catch (error) {
    return describeError(error);
  }
}
