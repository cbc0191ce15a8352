import { OperatorError, TerminalError, TransientError } from './errors.ts';
import { KubeApiError, KubeConnectionError } from './kube/client.ts';

/**
 * How a reconcile ended. `waiting`: the world is not ready, look again slowly; `terminal`: until the spec changes;
 * `retry`: back to the queue, it is nobody's fault; `error`: back to the queue, it is a bug; `skipped`: nothing to do.
 */
export const outcomes = [
  'done',
  'requeue',
  'waiting',
  'terminal',
  'retry',
  'error',
  'skipped',
] as const;
export type Outcome = (typeof outcomes)[number];

export type FailedOutcome = Extract<Outcome, 'waiting' | 'terminal' | 'retry' | 'error'>;

/** The only place that decides what an exception means. */
export function classify(error: unknown): FailedOutcome {
  if (error instanceof TerminalError) return 'terminal';
  if (error instanceof TransientError) return 'waiting';
  if (error instanceof KubeConnectionError) return 'retry';
  if (error instanceof KubeApiError) return isPassing(error.status) ? 'retry' : 'error';
  return 'error';
}

/**
 * Conflicts, overload and server errors pass by themselves, and so does a 401: an access entry takes a while to be known. A
 * refusal (403, 422) does not.
 */
const isPassing = (status: number): boolean =>
  status >= 500 || [401, 404, 408, 409, 410, 429].includes(status);

/** What a bug looks like to the user: it must not hide behind an old status. */
export class InternalError extends OperatorError {
  /** The message is constant: the same bug, met again, must not make another write. */
  constructor(cause: unknown) {
    super('InternalError', 'an unexpected error, tried again; the log of the function has it', {
      cause,
    });
  }
}
