import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../local/seeded-random.ts';
import { mergeUnprocessed, splitBatch, unsplit } from './dynamodb-unprocessed.ts';

/** Shares between 0 and 1; all default to 0. */
export interface ProxyFaults {
  /** Of the requests inside a BatchWriteItem: answered as UnprocessedItems, not forwarded. */
  readonly unprocessed?: number;
  /** Of the calls, as all below. */
  readonly throttle?: number;
  /** 500 as DynamoDB words it, or 503 with a page as a load balancer does. */
  readonly serverError?: number;
  /** The connection is destroyed before anything is forwarded. */
  readonly reset?: number;
  /** Forwarded and carried out, but the connection is destroyed before the answer. */
  readonly lostReply?: number;
  /** Never answered; every other one is carried out. */
  readonly hang?: number;
  readonly latencyMs?: number;
}

export type FaultName = Exclude<keyof ProxyFaults, 'latencyMs'>;

export interface FaultProxy {
  readonly url: string;
  /** Calls by operation, those with a fault included. */
  readonly calls: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<FaultName, number>>;
  /** From now on these and no others. */
  set(faults: ProxyFaults): void;
  stop(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Stands in front of a DynamoDB engine and makes it misbehave, the same way again for the same seed and order of calls. */
export async function startFaultProxy(
  target: string,
  initial: ProxyFaults = {},
  seed = 1,
): Promise<FaultProxy> {
  const random = seededRandom(seed);
  const agent = new Agent({ keepAlive: true });
  const calls: Record<string, number> = {};
  const counts = { unprocessed: 0, throttle: 0, serverError: 0, reset: 0, lostReply: 0, hang: 0 };
  let faults = initial;

  const happens = (fault: FaultName): boolean => {
    if (random() >= (faults[fault] ?? 0)) return false;
    counts[fault] += 1;
    return true;
  };

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(incoming);
    const operation = operationOf(incoming);
    calls[operation] = (calls[operation] ?? 0) + 1;
    if (faults.latencyMs) await delay(faults.latencyMs);
    if (happens('reset')) return void incoming.socket.destroy();
    if (happens('throttle')) return answer(response, throttled());
    if (happens('serverError'))
      return answer(response, random() < 0.5 ? internalError() : badGateway());
    if (happens('hang')) {
      if (random() < 0.5) await forward(incoming, body);
      return;
    }
    const isBatch = operation === 'BatchWriteItem';
    const split = isBatch ? splitBatch(body, () => happens('unprocessed')) : unsplit(body);
    if (split.nothingLeft) return answer(response, throttled());
    const reply = await forward(incoming, split.body);
    if (happens('lostReply')) return void incoming.socket.destroy();
    answer(response, { ...reply, body: mergeUnprocessed(reply.body, split.unprocessed) });
  }

  function forward(incoming: IncomingMessage, body: Buffer): Promise<Reply> {
    const { 'content-length': _, connection: __, ...headers } = incoming.headers;
    return new Promise((resolve, reject) => {
      const { method = 'POST', url = '/' } = incoming;
      const outgoing = request(new URL(url, target), { method, headers, agent }, (reply) => {
        const { statusCode: status = 500 } = reply;
        bytesOf(reply).then(
          (bytes) => resolve({ status, headers: reply.headers, body: bytes }),
          reject,
        );
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => incoming.socket.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    faults: counts,
    set: (next) => {
      faults = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

/** `Query` of the header `X-Amz-Target: DynamoDB_20120810.Query`. */
const operationOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target']).replace(/^.*\./, '');

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Length and checksum are those of the engine's own body: both are left to be found anew. */
function answer(response: ServerResponse, { status, headers, body }: Reply): void {
  const { 'content-length': _, 'x-amz-crc32': __, connection: ___, ...rest } = headers;
  response.writeHead(status, { ...rest, 'content-length': body.length }).end(body);
}

const serviceError = (status: number, type: string, message: string): Reply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }),
  ),
});
const throttled = (): Reply =>
  serviceError(
    400,
    'ProvisionedThroughputExceededException',
    'The level of throughput was exceeded',
  );
const internalError = (): Reply =>
  serviceError(500, 'InternalServerError', 'Internal server error');
const badGateway = (): Reply => ({
  status: 503,
  headers: { 'content-type': 'text/html' },
  body: Buffer.from('<html><body>503 Service Unavailable</body></html>'),
});
