/** What comes back from a run of a function, in the words of Lambda. */

/** The payload of a failed run. */
export interface LambdaError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

interface RunReport {
  readonly requestId: string;
  readonly durationMilliseconds: number;
  /** The last 4 KB of what the run logged. */
  readonly logTail: string;
}

export interface SuccessfulRun extends RunReport {
  readonly result: 'ok';
  /** The answer as JSON text. */
  readonly payload: string;
}

export interface FailedRun extends RunReport {
  readonly result: 'error' | 'timeout';
  readonly error: LambdaError;
}

export type InvocationResult = SuccessfulRun | FailedRun;

/** Thrown by callers of a function that want its answer or nothing. */
export class FunctionError extends Error {
  constructor(functionName: string, { errorType, errorMessage }: LambdaError) {
    super(`${functionName} failed: ${errorType}: ${errorMessage}`);
    this.name = 'FunctionError';
  }
}

/** As many runs as allowed are under way, and the caller did not want to wait. */
export class TooManyRequestsError extends Error {
  constructor(functionName: string, maxConcurrency: number) {
    super(`Rate Exceeded: ${functionName} already has ${maxConcurrency} runs, which is its limit`);
    this.name = 'TooManyRequestsError';
  }
}

/** An exception as Lambda's Node runtime reports it. */
export function toLambdaError(thrown: unknown): LambdaError {
  if (!(thrown instanceof Error)) {
    return { errorType: typeof thrown, errorMessage: String(thrown), trace: [] };
  }
  return {
    errorType: thrown.name,
    errorMessage: thrown.message,
    trace: (thrown.stack ?? '').split('\n'),
  };
}
