import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { KubeApiError, KubeConnectionError } from './client.ts';

export interface KubeConnection {
  /** https://host:port, optionally with a path. */
  readonly server: string;
  /** PEM of the certificate authority. Default: the system's. */
  readonly ca?: string;
  /** Asked before every request, so that it can be renewed; keep it cached. Default: no token. */
  readonly token?: () => Promise<string>;
  /** Called after a 401, before the one retry with a new token. */
  readonly forgetToken?: () => void;
  readonly clientCert?: string;
  readonly clientKey?: string;
  /** Acts as somebody with less rights than the connection's own user. */
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[] };
  /** Default false. */
  readonly skipTlsVerify?: boolean;
  /** Time for a whole answer, or for the headers of a watch. Default 15 seconds. */
  readonly timeoutMilliseconds?: number;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: object;
  /** Default application/json. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

export interface Transport {
  /** The whole body of a 2xx answer; anything else is thrown as KubeApiError. */
  text(request: ApiRequest): Promise<string>;
  /** The open stream of a 2xx answer. */
  open(request: ApiRequest): Promise<IncomingMessage>;
}

/** A list page of 500 large objects must fit; an endless answer must not eat the function's memory. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const DEFAULT_TIMEOUT_MILLISECONDS = 15_000;

export function createTransport(connection: KubeConnection): Transport {
  const base = new URL(connection.server);
  const secure = base.protocol === 'https:';
  const agent = secure
    ? new https.Agent({
        keepAlive: true,
        ...(connection.ca !== undefined && { ca: connection.ca }),
        ...(connection.clientCert !== undefined && { cert: connection.clientCert }),
        ...(connection.clientKey !== undefined && { key: connection.clientKey }),
        rejectUnauthorized: connection.skipTlsVerify !== true,
      })
    : new http.Agent({ keepAlive: true });
  const send = async (request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const url = urlOf(base, request);
    const headers = await inTime(headersOf(connection, request), request, signal);
    return exchange({ secure, agent, url, headers, request, signal });
  };
  return {
    text: (request) => withRetries(connection, () => whole(connection, request, send)),
    open: (request) => withRetries(connection, () => headersOnly(connection, request, send)),
  };
}

/** A token may have to be fetched from a service that does not answer. */
async function inTime<T>(work: Promise<T>, { method, path }: ApiRequest, signal: AbortSignal) {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } catch (error) {
    throw withRequest(error, method, path);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

type Send = (request: ApiRequest, signal: AbortSignal) => Promise<IncomingMessage>;

async function whole(connection: KubeConnection, request: ApiRequest, send: Send): Promise<string> {
  const timeout = AbortSignal.timeout(
    connection.timeoutMilliseconds ?? DEFAULT_TIMEOUT_MILLISECONDS,
  );
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
  const response = await send(request, signal);
  try {
    return await readAll(response);
  } catch (error) {
    throw withRequest(signal.aborted ? signal.reason : error, request.method, request.path);
  }
}

/** The time limit is for the headers only; the caller's signal goes on to end the stream. */
async function headersOnly(
  connection: KubeConnection,
  request: ApiRequest,
  send: Send,
): Promise<IncomingMessage> {
  const milliseconds = connection.timeoutMilliseconds ?? DEFAULT_TIMEOUT_MILLISECONDS;
  const limit = new AbortController();
  const timer = setTimeout(
    () =>
      limit.abort(
        new Error(`no answer to ${request.method} ${request.path} in ${milliseconds} ms`),
      ),
    milliseconds,
  );
  try {
    const signal = request.signal ? AbortSignal.any([limit.signal, request.signal]) : limit.signal;
    return await send(request, signal);
  } finally {
    clearTimeout(timer);
  }
}

interface Exchange {
  readonly secure: boolean;
  readonly agent: http.Agent | https.Agent;
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
}

function exchange({
  secure,
  agent,
  url,
  headers,
  request,
  signal,
}: Exchange): Promise<IncomingMessage> {
  const { method, path, body } = request;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const call = (secure ? https : http).request(url, { method, agent, headers, signal });
    call.once('response', (response) => {
      if ((response.statusCode ?? 500) < 300) resolve(response);
      else
        readAll(response).then(
          (text) => reject(toApiError(response, text)),
          (error: unknown) =>
            reject(withRequest(signal.aborted ? signal.reason : error, method, path)),
        );
    });
    call.once('error', (error) => {
      const stale = call.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
      const reason: unknown = signal.aborted ? (signal.reason ?? error) : error;
      reject(stale ? new StaleSocketError(error.message) : withRequest(reason, method, path));
    });
    if (payload !== undefined) {
      // Node adds no length to a DELETE: the server would ignore the body and take it for the next request.
      call.setHeader('content-length', Buffer.byteLength(payload));
    }
    call.end(payload);
  });
}

/** A kept-alive connection which the server closed before it read our request: safe to send again. */
class StaleSocketError extends KubeConnectionError {}

async function withRetries<T>(connection: KubeConnection, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const unauthorized = error instanceof KubeApiError && error.status === 401;
    if (unauthorized) connection.forgetToken?.();
    if (error instanceof StaleSocketError || (unauthorized && connection.forgetToken))
      return attempt();
    throw error;
  }
}

async function headersOf(
  { token, impersonate }: KubeConnection,
  { body, contentType }: ApiRequest,
): Promise<Record<string, string | string[]>> {
  return {
    accept: 'application/json',
    ...(token && { authorization: `Bearer ${await token()}` }),
    ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
    ...(impersonate && {
      'impersonate-user': impersonate.user,
      'impersonate-group': [...impersonate.groups],
    }),
  };
}

function urlOf(base: URL, { path, query = {} }: ApiRequest): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, '') + path;
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  return url;
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > MAX_ANSWER_BYTES)
      throw new Error(`answer must be at most ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toApiError(response: IncomingMessage, text: string): KubeApiError {
  const code = response.statusCode ?? 500;
  const retryAfter = Number(response.headers['retry-after']);
  const { reason, message } = parseStatus(text);
  return new KubeApiError(
    code,
    reason ?? `HTTP${code}`,
    message ?? `the API server answered ${code}`,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
}

function parseStatus(text: string): { reason?: string; message?: string } {
  try {
    const status = JSON.parse(text) as { reason?: unknown; message?: unknown } | null;
    return {
      ...(typeof status?.reason === 'string' && status.reason !== '' && { reason: status.reason }),
      ...(typeof status?.message === 'string' && { message: status.message }),
    };
  } catch {
    return {};
  }
}

const withRequest = (cause: unknown, method: string, path: string): KubeConnectionError =>
  new KubeConnectionError(
    `${method} ${path} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  );
