import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Buckets, createBuckets } from './bucket-folder.ts';
import { answer, type S3Answer } from './operations.ts';
import { parseRequest } from './requests.ts';
import { S3Error } from './s3-error.ts';
import { xmlDocument } from './xml.ts';

export interface S3Endpoint {
  /** `http://127.0.0.1:<port>`; buckets are the first part of the path, any credentials will do. */
  readonly url: string;
  /** Safe to repeat. */
  stop(): Promise<void>;
}

/**
 * S3 over a folder, for charts on a laptop: `<folder>/<bucket>/<key>`. Signatures are not checked, so it listens on this machine
 * alone.
 */
export async function startS3Endpoint(folder: string): Promise<S3Endpoint> {
  const buckets = createBuckets(folder);
  const server = createServer((request, response) => void serve(request, response, buckets));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  buckets: Buckets,
): Promise<void> {
  const { status, headers = {}, body } = await answerOf(request, buckets);
  response.writeHead(status, { ...headers, server: 'podless' });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function answerOf(request: IncomingMessage, buckets: Buckets): Promise<S3Answer> {
  try {
    return await answer(parseRequest(request), buckets);
  } catch (error) {
    const known =
      error instanceof S3Error ? error : new S3Error(500, 'InternalError', String(error));
    const { status, code, message } = known;
    const body = xmlDocument([
      'Error',
      [
        ['Code', code],
        ['Message', message],
      ],
    ]);
    return { status, headers: { 'content-type': 'application/xml' }, body };
  }
}
