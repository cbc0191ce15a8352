import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import type { KubeConnection } from '../../runtime/kube/transport.ts';

/** How the server behaves on one call; the last one of a script stays. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** An API server on a real socket that misbehaves to order. */
export async function startHostileApi(...script: readonly Behaviour[]) {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer((request, response) => {
    requests.push(request);
    script[Math.min(requests.length, script.length) - 1]?.(response, request);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** Requests that have arrived so far. */
    requests,
    openSockets: () => sockets.size,
    client: (connection: Partial<KubeConnection> = {}) =>
      createKubeClient({ server: `http://127.0.0.1:${port}`, ...connection }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const answer =
  (status: number, body: object | string, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };

export const hang: Behaviour = () => undefined;

export const reset: Behaviour = (response) => response.socket?.resetAndDestroy();

/** Promises a long body, sends the start of one and closes. */
export const truncated =
  (status: number): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-length': '1000' });
    response.write('{"metadata":');
    setTimeout(() => response.socket?.destroy(), 20);
  };

/** Ends cleanly, as a proxy does that lost its backend: HTTP is satisfied, JSON is not. */
export const halfAnObject: Behaviour = (response) => {
  response.writeHead(200, { connection: 'close' }).end('{"metadata":{"name":');
};

/** Headers, and then a body that never ends. */
export const stuckBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"metadata":');
};

export const widget = {
  metadata: { name: 'w', namespace: 'default', uid: 'u', resourceVersion: '1' },
};
