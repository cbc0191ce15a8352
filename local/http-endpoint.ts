import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MetricsRegistry } from './cloud/metrics-registry.ts';

export interface HttpEndpointOptions {
  readonly registry: MetricsRegistry;
  /** Undefined if all is well, else what is not. */
  readonly problem: () => Promise<string | undefined>;
}

export interface HttpEndpoint {
  readonly url: string;
  stop(): Promise<void>;
}

/** /metrics, /healthz and /readyz, where people expect them from an operator. */
export async function startHttpEndpoint({
  registry,
  problem,
}: HttpEndpointOptions): Promise<HttpEndpoint> {
  const pages: Readonly<
    Record<string, () => Promise<[status: number, type: string, body: string]>>
  > = {
    '/metrics': async () => [200, registry.contentType, await registry.text()],
    '/healthz': async () => [200, 'text/plain', 'ok\n'],
    '/readyz': async () => {
      const found = await problem();
      return found === undefined ? [200, 'text/plain', 'ok\n'] : [503, 'text/plain', `${found}\n`];
    },
  };
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const page =
      pages[path] ??
      (async () => [404, 'text/plain', `pages: ${Object.keys(pages).join(' ')}\n`] as const);
    page().then(
      ([status, type, body]) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
