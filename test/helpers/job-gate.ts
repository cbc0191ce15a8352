import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An error as DynamoDB words it. */
export interface Refusal {
  readonly type: string;
  readonly message: string;
}

/** What may be known of a call before it is let through. */
export interface GateCall {
  readonly operation: string;
  /** That the call was signed for. */
  readonly region: string;
}

export interface Gate {
  readonly url: string;
  stop(): Promise<void>;
}

/** Stands in front of a DynamoDB and lets through what `refuse` has nothing against. */
export async function startGate(
  target: string,
  refuse: (call: GateCall) => Refusal | undefined,
): Promise<Gate> {
  const server = createServer((incoming, response) => {
    const refusal = refuse(callOf(incoming));
    if (refusal) {
      const { type, message } = refusal;
      const body = JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message });
      incoming.resume();
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
      return;
    }
    const { method = 'POST', headers, url = '/' } = incoming;
    const outgoing = request(new URL(url, target), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function callOf({ headers }: IncomingMessage): GateCall {
  // Authorization: AWS4-HMAC-SHA256 Credential=<key>/<date>/<region>/dynamodb/aws4_request, ...
  const [, region = ''] =
    /Credential=[^/]+\/\d+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  return { operation: String(headers['x-amz-target']).replace(/^.*\./, ''), region };
}

/** The address of a port that nobody listens on. */
export async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
