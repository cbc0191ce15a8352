import type { IncomingMessage } from 'node:http';
import { decodeChunks } from './aws-chunked.ts';
import { S3Error } from './s3-error.ts';

/** What is asked of which bucket and object. */
export interface S3Request {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  body(): Promise<Buffer>;
}

/** Charts are small; whoever sends more is lost. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** The bucket is the first part of the path. The text of the path is taken as it is: a URL would resolve `..` in it. */
export function parseRequest(request: IncomingMessage): S3Request {
  const { method = 'GET', url = '/', headers } = request;
  const [path = '/', query = ''] = url.split(/\?(.*)/s);
  const [bucket = '', ...key] = path.replace(/^\//, '').split('/').map(decoded);
  return {
    method,
    bucket,
    key: key.join('/'),
    query: new URLSearchParams(query),
    headers,
    body: async () => {
      const content = await readBody(request);
      return isChunked(headers) ? decodeChunks(content) : content;
    },
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new S3Error(400, 'InvalidURI', "Couldn't parse the specified URI.");
  }
}

const isChunked = (headers: IncomingMessage['headers']): boolean =>
  String(headers['x-amz-content-sha256'] ?? '').startsWith('STREAMING-') ||
  String(headers['content-encoding'] ?? '').includes('aws-chunked');

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new S3Error(400, 'EntityTooLarge', 'The object is larger than 64 MB.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
