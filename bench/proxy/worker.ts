import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { exchange, type Target } from './exchange.ts';
import type { FromProxy, ToProxy } from './protocol.ts';
import { createProxyRun } from './run.ts';

/** Entry of the proxy's thread: of its own, so that neither a peer nor the bench waits for it. */

const { url } = workerData as { readonly url: string };
const target: Target = { url: new URL(url), agent: new Agent({ keepAlive: true }) };
const noItems = { count: 0, bytes: 100 };
let run = createProxyRun({ items: noItems, latencyMs: 0 });

const server = createServer((incoming, response) => {
  exchange(incoming, response, run, target).catch(() => incoming.socket.destroy());
});
// Longer than any peer keeps an idle connection, so that none is closed under a request.
server.keepAliveTimeout = 600_000;

const post = (message: FromProxy) => parentPort?.postMessage(message);
server.listen(0, '127.0.0.1', () => {
  post({ type: 'listening', port: (server.address() as AddressInfo).port });
});
parentPort?.on('message', (message: ToProxy) => {
  if (message.type === 'begin') run = createProxyRun(message.settings);
  post({ type: 'counts', counts: run.counts() });
});
