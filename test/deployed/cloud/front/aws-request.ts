import type { IncomingMessage } from 'node:http';

/** A request as it came over the wire. */
export interface AwsRequest {
  readonly method: string;
  /** As sent: still encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export async function readRequest(incoming: IncomingMessage): Promise<AwsRequest> {
  const { method = 'GET', url = '/' } = incoming;
  const [path = '/', query = ''] = url.split('?', 2);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers: Object.fromEntries(headers),
    body: await bytesOf(incoming),
  };
}

export async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
