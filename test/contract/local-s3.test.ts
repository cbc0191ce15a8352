import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type S3Endpoint, startS3Endpoint } from '../../local/s3/endpoint.ts';
import { s3Client } from '../helpers/collector-s3.ts';

let folder: string;
let s3: S3Endpoint;
let client: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'podless-test-s3-'));
  await mkdir(join(folder, 'buckets', 'charts-bucket'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'not yours');
  s3 = await startS3Endpoint(join(folder, 'buckets'));
  client = s3Client(s3.url);
});

afterAll(async () => {
  client?.destroy();
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

const Bucket = 'charts-bucket';

const put = (Key: string, Body: string | Readable, more: object = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));

const contentOf = async (Key: string): Promise<string> =>
  (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString() ?? '';

describe('the local S3', () => {
  test('gives back what was put, with an ETag, to the SDK as it is', async () => {
    const { ETag } = await put('charts/a-1.0.0+b.tgz', 'hällo');
    expect(await contentOf('charts/a-1.0.0+b.tgz')).toBe('hällo');
    const Key = 'charts/a-1.0.0+b.tgz';
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ETag, ContentLength: 6 });
    const unchanged = client.send(new GetObjectCommand({ Bucket, Key, IfNoneMatch: ETag }));
    await expect(unchanged).rejects.toMatchObject({ $metadata: { httpStatusCode: 304 } });
    expect(await readFile(join(folder, 'buckets', Bucket, Key), 'utf8')).toBe('hällo');
  });

  test('takes a body in chunks with a checksum at its end', async () => {
    const body = 'x'.repeat(200_000);
    await put('streamed', Readable.from([Buffer.from(body)]), {
      ContentLength: body.length,
      ChecksumAlgorithm: 'CRC32',
    });
    expect(await contentOf('streamed')).toBe(body);
  });

  test('lists by prefix and by folder, makes buckets, and deletes', async () => {
    for (const key of ['list/a/1', 'list/a/2', 'list/b']) await put(key, key);
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'list/a' }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(['list/a/1', 'list/a/2']);
    const listed = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: 'list/', Delimiter: '/' }),
    );
    expect(listed.CommonPrefixes).toEqual([{ Prefix: 'list/a/' }]);
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual(['list/b']);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'list/b' }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'list/b' }));
    await expect(contentOf('list/b')).rejects.toMatchObject({ name: 'NoSuchKey' });
    await client.send(new CreateBucketCommand({ Bucket: 'another' }));
    await client.send(new HeadBucketCommand({ Bucket: 'another' }));
    const { Buckets } = await client.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toEqual(['another', Bucket]);
  });

  test('says what is not there as S3 does', async () => {
    await expect(contentOf('nobody')).rejects.toMatchObject({ name: 'NoSuchKey' });
    const other = client.send(new GetObjectCommand({ Bucket: 'no-such', Key: 'a' }));
    await expect(other).rejects.toMatchObject({ name: 'NoSuchBucket' });
    await expect(
      client.send(new HeadObjectCommand({ Bucket, Key: 'nobody' })),
    ).rejects.toMatchObject({ name: 'NotFound' });
  });

  test.each([
    `/${Bucket}/../../secret`,
    `/${Bucket}/..%2f..%2fsecret`,
    `/${Bucket}/%2e%2e/%2e%2e/secret`,
    '/../secret',
    '/..%2fsecret',
    '/%2e%2e/secret',
    `/${Bucket}//secret`,
    `/${Bucket}/a%00b`,
    `/${Bucket}/a%5c..%5cb`,
    `/${Bucket}/%ff`,
    '/..',
    '/.',
  ])('never leaves its folder: %s', async (path) => {
    const read = await raw('GET', path);
    expect(read).not.toContain('not yours');
    expect(read).toMatch(/^HTTP\/1\.1 4\d\d/);
    expect(await raw('PUT', path)).toMatch(/^HTTP\/1\.1 4\d\d/);
    expect(await readFile(join(folder, 'secret'), 'utf8')).toBe('not yours');
    expect(existsSync(join(folder, 'b'))).toBe(false);
  });

  test('refuses what it does not do, and bodies that are no chunks', async () => {
    expect(await raw('POST', `/${Bucket}/big?uploads`)).toContain('NotImplemented');
    const broken = await raw(
      'PUT',
      `/${Bucket}/broken`,
      'x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n',
      'zz\r\n',
    );
    expect(broken).toContain('IncompleteBody');
  });
});

/** A request whose path is sent as it is; clients would tidy it up. */
async function raw(method: string, path: string, headers = '', body = 'x'): Promise<string> {
  const { port } = new URL(s3.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: local\r\nconnection: close\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`,
  );
  return text(socket);
}

const version = spawnSync('aws', ['--version'], { encoding: 'utf8' });
const installed = version.status === 0;
const about = installed ? version.stdout.trim().split(' ')[0] : 'skipped: aws is not installed';

describe.skipIf(!installed)(`the AWS CLI (${about})`, { timeout: 60_000 }, () => {
  const aws = (...args: readonly string[]) =>
    new Promise<string>((resolve, reject) => {
      const env = {
        ...process.env,
        AWS_ACCESS_KEY_ID: 'x',
        AWS_SECRET_ACCESS_KEY: 'x',
        AWS_DEFAULT_REGION: 'us-east-1',
        AWS_PAGER: '',
      };
      execFile('aws', [...args, '--endpoint-url', s3.url], { env }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
    });

  test('copies a chart there and back, and lists it', async () => {
    const chart = join(folder, 'cli-1.0.0.tgz');
    await writeFile(chart, 'a chart');
    await aws('s3', 'cp', chart, `s3://${Bucket}/charts/`);
    expect(await aws('s3', 'ls', `s3://${Bucket}/charts/`)).toContain('7 cli-1.0.0.tgz');
    await aws('s3', 'cp', `s3://${Bucket}/charts/cli-1.0.0.tgz`, `${chart}.back`);
    expect(await readFile(`${chart}.back`, 'utf8')).toBe('a chart');
    await aws('s3', 'rm', `s3://${Bucket}/charts/cli-1.0.0.tgz`);
    await aws('s3', 'mb', 's3://made-by-cli');
    expect(await aws('s3', 'ls')).toContain('made-by-cli');
  });
});
