import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { startS3 } from '../../local/s3/index.ts';
import { type ArchiveEntry, archiveOf } from './collector-archive.ts';

export const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

export const s3Client = (endpoint: string): S3Client =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
    maxAttempts: 1,
  });

/** An S3 with the charts of the samples, that can be switched off, and counts who reads what. */
export async function startTestS3() {
  const folder = await mkdtemp(join(tmpdir(), 'podless-test-s3-'));
  const s3 = await startS3(folder);
  const reads: { readonly path: string; readonly status: number }[] = [];
  let off = false;
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (off) return void request.socket.destroy();
    const { method = 'GET', url = '/', headers } = request;
    const inner = http.request(`${s3.url}${url}`, { method, headers }, (answer) => {
      const status = answer.statusCode ?? 502;
      if (method === 'GET') reads.push({ path: url.split('?', 1)[0] ?? '', status });
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    inner.once('error', () => response.destroy());
    request.pipe(inner);
  };
  const front = http.createServer(serve);
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const client = s3Client(s3.url);
  return {
    url,
    folder,
    /** Of the functions, with the status they got: 200 for a download, 304 for one that was not needed. */
    readsOf: (key: string) => reads.filter(({ path }) => path.endsWith(`/${key}`)),
    switchOff: (value: boolean) => {
      off = value;
      if (value) front.closeAllConnections();
    },
    put: (bucket: string, key: string, body: Buffer) =>
      client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body })),
    /** Uploads `charts/<name>-<version>.tgz` to production. */
    putChart: async (name: string, version: string, entries: readonly ArchiveEntry[]) =>
      client.send(
        new PutObjectCommand({
          Bucket: 'production-helm',
          Key: `charts/${name}-${version}.tgz`,
          Body: await archiveOf(entries),
        }),
      ),
    stop: async () => {
      client.destroy();
      front.close();
      front.closeAllConnections();
      await s3.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type TestS3 = Awaited<ReturnType<typeof startTestS3>>;
