import { OperatorError, TerminalError, TransientError } from '../../runtime/errors.ts';
import { TableFault } from './table.ts';
import { readThrottle } from './throttling-reasons.ts';

/** What a message may tell of where a call went: no header, no token, no URL (it might hold a password). */
export interface TableSite {
  readonly tableName: string;
  readonly region: string;
  /** Host and port, where it is not the region's own endpoint. */
  readonly host?: string;
}

/** The parts of an SDK or Node error that we go by. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly hostname?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number };
}

const throttles: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'Throttling',
  'RequestLimitExceeded',
  'TooManyRequestsException',
]);

/** Answers with a 4xx status that pass by themselves. */
const passingRefusals: ReadonlySet<string> = new Set(['ReplicatedWriteConflictException']);

const denials: ReadonlySet<string> = new Set([
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'IncompleteSignatureException',
  'SignatureDoesNotMatch',
  'InvalidClientTokenId',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'CredentialsProviderError',
  'TokenProviderError',
]);

/** Nothing can have been sent if the connection was never there. */
const neverConnected: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

const MAX_SERVICE_MESSAGE = 512;

/** Makes a call; what it throws is a TableFault, an OperatorError, the abort, or a bug. */
export async function translated<T>(
  site: TableSite,
  operation: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translateError(error, site, operation);
  }
}

/**
 * Says in our terms what went wrong, by the error's name or code, never by its text. No `cause` is kept: the text of a
 * signature error repeats the request's headers, the session token among them, and causes are logged.
 */
function translateError(error: unknown, site: TableSite, operation: string): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError || error.name === 'AbortError') {
    return error;
  }
  const { name, code, hostname, $metadata, $response } = error as SdkError;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  const where = nameOf(site);
  const what = `${operation} on ${where}`;

  if (throttles.has(name) || status === 429) {
    const throttle = readThrottle(error);
    const detail = throttle ? `${name}, ${throttle.detail}` : name;
    return new TableFault('throttled', `${what} was throttled: ${detail}`, false, throttle);
  }
  if (name === 'ResourceNotFoundException') {
    return new TransientError('TableNotFound', `${where} does not exist`);
  }
  if (denials.has(name)) {
    // Only this one's text is known to be free of request headers; it names who lacks which right.
    const detail = name === 'AccessDeniedException' ? `: ${cut(error.message)}` : '';
    return new TransientError('AccessDenied', `${what} was denied: ${name}${detail}`);
  }
  if (name === 'ValidationException') {
    return new TerminalError('RequestRejected', `${what} was rejected: ${cut(error.message)}`);
  }
  if (status !== undefined) return translateStatus(`${what} failed: ${name}`, status, name);
  if (typeof code === 'string' || name === 'TimeoutError') {
    const detail = typeof code === 'string' ? code : name;
    const host = hostname ?? site.host ?? `dynamodb.${site.region}.amazonaws.com`;
    const message = `${host} cannot be reached for ${what}: ${detail}`;
    return new TableFault('unreachable', message, !neverConnected.has(detail));
  }
  return error;
}

/** `table "orders" in eu-west-1`, with the host where it is one of its own. */
export const nameOf = ({ tableName, region, host }: TableSite): string =>
  `table "${tableName}" in ${region}${host === undefined ? '' : ` at ${host}`}`;

function translateStatus(what: string, status: number, name: string): Error {
  const message = `${what} (HTTP ${status})`;
  // A 2xx that the SDK could not read was cut off on the way.
  if (status >= 500 || status < 300 || passingRefusals.has(name)) {
    return new TableFault('serverError', message, true);
  }
  return new TransientError('RequestFailed', message);
}

const cut = (message: string): string =>
  message.length <= MAX_SERVICE_MESSAGE ? message : `${message.slice(0, MAX_SERVICE_MESSAGE)}…`;
