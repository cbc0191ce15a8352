import type { IncomingMessage, ServerResponse } from 'node:http';
import { notJson, requestTooLarge, ServiceError } from './service-error.ts';

/** Reading requests and writing answers of the invoke endpoint. */

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. Default: no body. */
  readonly body?: string;
}

/** Read to its end and thrown away up to here, so that the client gets to see why it was refused. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** The request's body as JSON; nothing is {}. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else if (bytes > MAX_DISCARDED_BYTES) break;
  }
  if (bytes > maxBytes) throw requestTooLarge(maxBytes);
  if (bytes === 0) return {};
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
}

/**
 * Only programs of this machine may invoke functions, which change real things: not a web page in its browser
 * (Origin), and not one that made its own name point here (Host).
 */
export function refuseBrowsers({ headers }: IncomingMessage): void {
  const host = headers.host ?? '';
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
  if (headers.origin === undefined && isLocal) return;
  const who = headers.origin === undefined ? `host ${host}` : `origin ${headers.origin}`;
  throw new ServiceError(403, 'AccessDeniedException', `requests of ${who} are not allowed`);
}

export const errorAnswer = ({ status, type, message }: ServiceError): Answer => ({
  status,
  headers: { 'x-amzn-ErrorType': type },
  body: JSON.stringify({ Type: status < 500 ? 'User' : 'Service', Message: message, message }),
});

/** A client that has hung up is no error. */
export function write(response: ServerResponse, requestId: string, answer: Answer): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(answer.status, {
    'x-amzn-RequestId': requestId,
    ...(answer.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...answer.headers,
  });
  response.end(answer.body);
}
