import type { LambdaError } from './invocation.ts';

/** How Lambda words the end of an execution environment. The request id is added where it is known. */

export const timedOut = (seconds: number): LambdaError => ({
  errorType: 'Sandbox.Timedout',
  errorMessage: `Error: Task timed out after ${seconds.toFixed(2)} seconds`,
});

export const exited = (cause: string): LambdaError => ({
  errorType: 'Runtime.ExitError',
  errorMessage: `Error: Runtime exited with error: ${cause}`,
});

export const stopped: LambdaError = {
  errorType: 'Sandbox.Stopped',
  errorMessage: 'Error: the local system is stopping',
};

/** What made a worker thread end, for `exited`. */
export function describeCrash(error: unknown): string {
  const outOfMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return outOfMemory ? 'signal: killed (out of memory)' : `exit status 1 (${String(error)})`;
}

/** Lambda puts the request id before messages of its own, and leaves those of the function alone. */
export function withRequestId(error: LambdaError, requestId: string): LambdaError {
  if (!/^(Sandbox|Runtime\.ExitError)/.test(error.errorType)) return error;
  return { ...error, errorMessage: `RequestId: ${requestId} ${error.errorMessage}` };
}

/** Lambda's limit of an answer. */
const MAX_ANSWER_BYTES = 6_291_556;

export function tooLarge(payload: string): LambdaError | undefined {
  if (payload.length * 3 <= MAX_ANSWER_BYTES || Buffer.byteLength(payload) <= MAX_ANSWER_BYTES)
    return undefined;
  return {
    errorType: 'Function.ResponseSizeTooLarge',
    errorMessage: `Response payload size exceeded maximum allowed payload size (${MAX_ANSWER_BYTES} bytes).`,
  };
}
