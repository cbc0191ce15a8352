import { createHash, randomBytes } from 'node:crypto';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from 'vitest';
import type { ChartStore } from '../../functions/collector/chart-store.ts';
import { createChartStore } from '../../functions/collector/s3-charts.ts';
import { s3Client } from './collector-s3.ts';
import { createTestClock } from './runtime-world.ts';

const BUCKET = 'production-helm';
const KEY = 'charts/contract-1.0.0+build.5.tgz';

/** What a store of charts does, whoever plays S3. */
export function describeChartStore(urlOf: () => string): void {
  let store: ChartStore;
  const put = (key: string, body: Buffer) =>
    s3Client(urlOf()).send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: body }));

  beforeAll(async () => {
    await s3Client(urlOf()).send(new CreateBucketCommand({ Bucket: BUCKET }));
    store = createChartStore({ client: s3Client(urlOf()), clock: createTestClock() });
  });

  test('reads an archive with its ETag and digest, byte by byte', async () => {
    const body = randomBytes(300_000);
    await put(KEY, body);
    const archive = await store.fetch({ bucket: BUCKET, key: KEY });
    expect(archive).toMatchObject({ digest: createHash('sha256').update(body).digest('hex') });
    expect(archive !== 'unchanged' && Buffer.from(archive.bytes).equals(body)).toBe(true);
  });

  test('does not read again what is unchanged, and does once it changed', async () => {
    await put(KEY, Buffer.from('one'));
    const first = await store.fetch({ bucket: BUCKET, key: KEY });
    const knownEtag = first === 'unchanged' ? '' : first.etag;
    expect(await store.fetch({ bucket: BUCKET, key: KEY, knownEtag })).toBe('unchanged');
    await put(KEY, Buffer.from('two'));
    expect(await store.fetch({ bucket: BUCKET, key: KEY, knownEtag })).toMatchObject({
      bytes: Buffer.from('two'),
    });
  });

  test('says which chart is missing, and whether the bucket is', async () => {
    await expect(store.fetch({ bucket: BUCKET, key: 'charts/none.tgz' })).rejects.toMatchObject({
      reason: 'ChartNotFound',
      message: 'chart s3://production-helm/charts/none.tgz was not found: there is no such object',
    });
    await expect(store.fetch({ bucket: 'no-bucket', key: KEY })).rejects.toMatchObject({
      reason: 'ChartNotFound',
      message: `chart s3://no-bucket/${KEY} was not found: there is no such bucket`,
    });
  });

  test('refuses an archive of more than 5 MB', async () => {
    await put('charts/fits.tgz', Buffer.alloc(5 * 1024 * 1024));
    expect(await store.fetch({ bucket: BUCKET, key: 'charts/fits.tgz' })).toBeTypeOf('object');
    await put('charts/large.tgz', Buffer.alloc(5 * 1024 * 1024 + 1));
    await expect(store.fetch({ bucket: BUCKET, key: 'charts/large.tgz' })).rejects.toMatchObject({
      reason: 'InvalidChart',
      message: expect.stringContaining(
        's3://production-helm/charts/large.tgz must have at most 5 MB',
      ),
    });
  });
}
