import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

interface DynaliteSettings {
  readonly createTableMs: number;
  readonly updateTableMs: number;
  readonly deleteTableMs: number;
}

// It has no types of its own.
const dynalite = createRequire(import.meta.url)('dynalite') as (
  settings: DynaliteSettings,
) => Server;

// Dynalite throws, out of reach of everyone, when a client goes away in the middle of a request. Clients do that.
process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'ECONNRESET') throw error;
});

const { port } = workerData as { readonly port: number };
const server = dynalite({ createTableMs: 0, updateTableMs: 0, deleteTableMs: 0 });
// Longer than any client keeps an idle connection, so that none is closed under a request.
server.keepAliveTimeout = 120_000;
server.listen(port, '127.0.0.1', () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});
