import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { KubeApiError } from './client.ts';
import {
  type ApiRequest,
  type Exchange,
  exchange,
  readAll,
  StaleSocketError,
  withRequest,
} from './exchange.ts';

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

export interface Transport {
  /** The whole body of a 2xx answer; anything else is thrown as KubeApiError. */
  text(request: ApiRequest): Promise<string>;
  /** The open stream of a 2xx answer. */
  open(request: ApiRequest): Promise<IncomingMessage>;
}

const DEFAULT_TIMEOUT_MILLISECONDS = 15_000;

export function createTransport(connection: KubeConnection): Transport {
  const base = new URL(connection.server);
  const web = base.protocol === 'https:' ? secureWeb(connection) : plainWeb();
  const send = async (request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const url = urlOf(base, request);
    const headers = await inTime(headersOf(connection, request), request, signal);
    return exchange({ ...web, url, headers, request, signal });
  };
  return {
    text: (request) => withRetries(connection, () => whole(connection, request, send)),
    open: (request) => withRetries(connection, () => headersOnly(connection, request, send)),
  };
}

type Web = Pick<Exchange, 'start' | 'agent'>;

function secureWeb({ ca, clientCert, clientKey, skipTlsVerify }: KubeConnection): Web {
  const agent = new https.Agent({
    keepAlive: true,
    ...(ca !== undefined && { ca }),
    ...(clientCert !== undefined && { cert: clientCert }),
    ...(clientKey !== undefined && { key: clientKey }),
    rejectUnauthorized: skipTlsVerify !== true,
  });
  return { start: https.request, agent };
}

/** Not imported: to import node:http loads a WebSocket client too, which makes every cold start some 20 ms longer. */
function plainWeb(): Web {
  const http = process.getBuiltinModule('node:http');
  return { start: http.request, agent: new http.Agent({ keepAlive: true }) };
}

/** What a request waits for may have to be fetched from a service that does not answer: a token, an address. */
export async function inTime<T>(
  work: Promise<T>,
  { method, path }: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } catch (error) {
    throw withRequest(error, method, path);
  } finally {
    signal?.removeEventListener('abort', onAbort);
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
    () => limit.abort(new DOMException(`no answer in ${milliseconds} ms`, 'TimeoutError')),
    milliseconds,
  );
  try {
    const signal = request.signal ? AbortSignal.any([limit.signal, request.signal]) : limit.signal;
    return await send(request, signal);
  } finally {
    clearTimeout(timer);
  }
}

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
