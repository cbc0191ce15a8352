import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AwsRequest, type Reply, readRequest } from './aws-request.ts';

/** `reset`: the connection is ended without an answer. `hang`: it is left open without one. */
export type Handle = (
  request: AwsRequest,
  closed: AbortSignal,
) => Promise<Reply | 'reset' | 'hang'>;

export interface Endpoint {
  readonly url: string;
  /** Until then requests are refused: its address must be known before what it serves. */
  serve(handle: Handle): void;
  stop(): Promise<void>;
}

export async function openEndpoint(): Promise<Endpoint> {
  let handle: Handle | undefined;
  const server = createServer((incoming, response) => {
    if (!handle) return void response.writeHead(503).end();
    void respond(incoming, response, handle);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (next) => {
      handle = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  incoming: IncomingMessage,
  response: ServerResponse,
  handle: Handle,
): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  try {
    const reply = await handle(await readRequest(incoming), closed.signal);
    if (reply === 'hang') return;
    if (reply === 'reset') return void incoming.socket.destroy();
    const headers = { ...reply.headers, 'content-length': String(reply.body.length) };
    response.writeHead(reply.status, headers).end(reply.body);
  } catch {
    incoming.socket.destroy();
  }
}
