import { Agent, request as httpRequest } from 'node:http';
import { type AwsRequest, bytesOf, type Reply } from './aws-request.ts';

export interface Forwarder {
  /** Passes a request on to the server, with another body if given. */
  send(request: AwsRequest, body?: Buffer): Promise<Reply>;
  stop(): void;
}

export function createForwarder(url: string): Forwarder {
  const agent = new Agent({ keepAlive: true });
  return {
    send: ({ method, path, headers, body: own }, body = own) =>
      new Promise((resolve, reject) => {
        const { 'content-length': _, connection: __, host: ___, ...rest } = headers;
        const sent = { ...rest, 'content-length': String(body.length) };
        const outgoing = httpRequest(
          new URL(path, url),
          { method, headers: sent, agent },
          (reply) => {
            bytesOf(reply).then(
              (bytes) => resolve(toReply(reply.statusCode ?? 500, reply.headers, bytes)),
              reject,
            );
          },
        );
        outgoing.once('error', reject);
        outgoing.end(body);
      }),
    stop: () => agent.destroy(),
  };
}

function toReply(status: number, headers: NodeJS.Dict<string | string[]>, body: Buffer): Reply {
  const kept = [
    'content-type',
    'x-amzn-errortype',
    'x-amzn-query-error',
    'x-amz-crc32',
    'etag',
    'last-modified',
  ];
  const entries = kept.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { status, headers: Object.fromEntries(entries), body };
}
