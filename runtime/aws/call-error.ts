/** What a failed call means to who made it. */
export type CallFault =
  /** Too many calls just now. */
  | 'throttled'
  /** The service has a problem of its own. */
  | 'unavailable'
  /** No answer, or half of one. */
  | 'unreachable'
  /** The role lacks a right, or its credentials are of no use. */
  | 'denied'
  /** What was asked for is not there. */
  | 'missing'
  /** Asking again would get the same answer. */
  | 'refused';

/** A call to an AWS service that failed, in our words. */
export class AwsCallError extends Error {
  override readonly name = 'AwsCallError';
  readonly fault: CallFault;
  /** The service's own name for it, or Node's: `ThrottlingException`, `ECONNREFUSED`. */
  readonly code: string;

  constructor(message: string, { fault, code }: Pick<AwsCallError, 'fault' | 'code'>) {
    super(message);
    this.fault = fault;
    this.code = code;
  }
}

const passing: ReadonlySet<CallFault> = new Set<CallFault>([
  'throttled',
  'unavailable',
  'unreachable',
]);

/** Whether the same call may well succeed in a moment. */
export const isPassingFault = (fault: CallFault): boolean => passing.has(fault);

/** The same, of what was thrown. */
export const isPassing = (error: unknown): boolean =>
  error instanceof AwsCallError && isPassingFault(error.fault);

/** The parts of an SDK or Node error that we go by. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number };
}

const MAX_DETAIL = 512;

/**
 * Makes one call. What it throws is an AwsCallError, or the signal's reason.
 *
 * @param what `PutEvents on bus "podless"`
 */
export async function called<T>(
  what: string,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw signal?.aborted ? signal.reason : toCallError(error, what);
  }
}

/**
 * By the error's name, code or status, never by its text. No `cause` is kept: the text of a signature error repeats the
 * request's headers, the session token among them, and causes are logged.
 */
function toCallError(error: unknown, what: string): AwsCallError {
  const { name, message, code, $metadata, $response } = (
    error instanceof Error ? error : new Error(String(error))
  ) as SdkError;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  if (status !== undefined) {
    const fault = faultOfCode(name) ?? faultOfStatus(status);
    // Only these texts are known to be free of request headers; they say who lacks which right, or what is not there.
    const detail =
      name.startsWith('AccessDenied') || fault === 'missing' ? `: ${cut(message)}` : '';
    return new AwsCallError(`${what} failed: ${name} (HTTP ${status})${detail}`, {
      fault,
      code: name,
    });
  }
  if (typeof code === 'string' || name === 'TimeoutError') {
    const known = typeof code === 'string' ? code : name;
    return new AwsCallError(`${what} failed: ${known}`, { fault: 'unreachable', code: known });
  }
  // Nothing was sent: credentials are missing, or the request makes no sense.
  return new AwsCallError(`${what} failed: ${cut(message)}`, { fault: 'refused', code: name });
}

/** What a service's name for an error tells by itself; also for the single entries of a batch. */
export function faultOfCode(code: string): CallFault | undefined {
  if (/Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/.test(code)) return 'throttled';
  if (/^Internal|ServiceUnavailable/.test(code)) return 'unavailable';
  if (/Denied|NotAuthorized|Signature|InvalidClientToken|UnrecognizedClient|Expired/.test(code)) {
    return 'denied';
  }
  return /NotFound(Exception)?$|DoesNotExist$|NonExistentQueue$/.test(code) ? 'missing' : undefined;
}

function faultOfStatus(status: number): CallFault {
  if (status === 429) return 'throttled';
  // A 2xx that the SDK could not read was cut off on the way.
  return status >= 500 || status < 300 || status === 408 ? 'unavailable' : 'refused';
}

const cut = (text: string): string =>
  text.length <= MAX_DETAIL ? text : `${text.slice(0, MAX_DETAIL)}…`;
