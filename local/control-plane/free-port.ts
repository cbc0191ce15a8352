import { createServer } from 'node:net';

/**
 * A TCP port of 127.0.0.1 that nobody listens on now; someone else may take it before it is used.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address && typeof address === 'object') resolve(address.port);
        else reject(new Error(`expected a TCP port, got ${String(address)}`));
      });
    });
  });
}
