import type { Agent, IncomingMessage, request } from 'node:http';
import { KubeApiError, KubeConnectionError } from './client.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: object;
  /** Default application/json. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** A list page of 500 large objects must fit; an endless answer must not eat the function's memory. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export interface Exchange {
  /** The `request` of node:https, or of node:http. */
  readonly start: typeof request;
  readonly agent: Agent;
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
}

/** One request, one answer. Resolves with an answer that is no error, as soon as its headers are there. */
export function exchange({
  start,
  agent,
  url,
  headers,
  request,
  signal,
}: Exchange): Promise<IncomingMessage> {
  const { method, path, body } = request;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const call = start(url, { method, agent, headers, signal });
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
export class StaleSocketError extends KubeConnectionError {}

export async function readAll(response: IncomingMessage): Promise<string> {
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

/** Says which request it was that had no whole answer. */
export const withRequest = (cause: unknown, method: string, path: string): KubeConnectionError =>
  new KubeConnectionError(
    `${method} ${path} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  );
