import { KubeApiError } from '../kube/client.ts';
import { TimeLimitError } from './within.ts';

/** Why a watch or list did not go on; also the `cause` label of the reconnect metric. */
export type BreakCause =
  /** The position is too old: changes were missed. */
  | 'gone'
  /** The kind is not installed. */
  | 'missing'
  | 'denied'
  | 'throttled'
  /** The server does not like the request. */
  | 'refused'
  /** The server does not like anything just now. */
  | 'unavailable'
  | 'unreachable'
  | 'silent'
  | 'truncated'
  | 'malformed'
  /** An ERROR event other than gone. */
  | 'error_event'
  /** Our own code threw. */
  | 'bug';

/** The stream itself told that it cannot go on. */
export class WatchBreak extends Error {
  readonly breakCause: BreakCause;

  constructor(breakCause: BreakCause, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WatchBreak';
    this.breakCause = breakCause;
  }
}

export function breakCauseOf(error: unknown): BreakCause {
  if (error instanceof WatchBreak) return error.breakCause;
  if (error instanceof TimeLimitError) return 'silent';
  if (error instanceof KubeApiError) return causeOfStatus(error);
  return 'unreachable';
}

function causeOfStatus({ status }: KubeApiError): BreakCause {
  switch (status) {
    case 410:
      return 'gone';
    case 404:
      return 'missing';
    case 401:
    case 403:
      return 'denied';
    case 429:
      return 'throttled';
    default:
      return status < 500 ? 'refused' : 'unavailable';
  }
}
