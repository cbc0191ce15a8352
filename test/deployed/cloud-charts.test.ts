import { accessSync, constants } from 'node:fs';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { altered, withText } from './altered-template.ts';
import { createBucket, uploadChart } from './chart-bucket.ts';
import { type TestCloud, useTestCloud } from './cloud/test-cloud.ts';
import { allOperators } from './contexts.ts';

const BUCKET = 'production-helm';

const s3As = ({ cloud, functionOf }: TestCloud, name: string): S3Client =>
  new S3Client({
    endpoint: cloud.frontUrl,
    region: cloud.region,
    credentials: functionOf(name).credentials,
    maxAttempts: 1,
  });

const get = (Key: string, Bucket = BUCKET) => new GetObjectCommand({ Bucket, Key });
const denied = { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } };

describe.skipIf(motoMissing)(`Charts by the synthesized template, on ${motoName}`, () => {
  const { deploy } = useTestCloud(allOperators);

  test('the collector reads charts in its buckets, and nothing else', async () => {
    const system = await deploy();
    await uploadChart(BUCKET, 'charts/a-1.0.0+build.tgz', Buffer.from('chart'));
    await uploadChart(BUCKET, 'secrets/a.tgz', Buffer.from('secret'));
    await uploadChart('other-bucket', 'charts/a-1.0.0.tgz', Buffer.from('other'));
    const s3 = s3As(system, 'podless-collector');
    const { Body, ETag } = await s3.send(get('charts/a-1.0.0+build.tgz'));
    expect([await Body?.transformToString(), ETag]).toEqual(['chart', expect.any(String)]);
    await expect(s3.send(get('secrets/a.tgz'))).rejects.toMatchObject(denied);
    await expect(s3.send(get('charts/a-1.0.0.tgz', 'other-bucket'))).rejects.toMatchObject(denied);
    await expect(
      s3As(system, 'podless-minimart').send(get('charts/a-1.0.0+build.tgz')),
    ).rejects.toMatchObject(denied);
    expect(system.cloud.gaps).toEqual([]);
  });

  test('a chart that is not there is missing to who may list the bucket', async () => {
    const system = await deploy();
    await createBucket(BUCKET);
    const missing = s3As(system, 'podless-collector').send(get('charts/none.tgz'));
    await expect(missing).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('a chart that is not there is denied to who may not', async () => {
    const alter = withText('AWS::IAM::Policy', 's3:ListBucket', 's3:GetBucketTagging');
    const system = await deploy({ alter });
    await createBucket(BUCKET);
    const refused = s3As(system, 'podless-collector').send(get('charts/none.tgz'));
    await expect(refused).rejects.toMatchObject(denied);
  });

  test("a bucket of somebody else's account is out of reach, whatever its name", async () => {
    const alter = withText('AWS::IAM::Policy', '"AWS::AccountId"}}}', '"AWS::Region"}}}');
    const system = await deploy({ alter });
    await uploadChart(BUCKET, 'charts/a.tgz', Buffer.from('chart'));
    const s3 = s3As(system, 'podless-collector');
    await expect(s3.send(get('charts/a.tgz'))).rejects.toMatchObject(denied);
  });

  test('an operation that the harness does not know is told to the test', async () => {
    const system = await deploy();
    const list = s3As(system, 'podless-collector').send(
      new ListObjectsV2Command({ Bucket: BUCKET }),
    );
    await expect(list).rejects.toThrow();
    expect(system.cloud.gaps.join()).toContain('the harness does not know s3');
  });

  test('those who run helm have it by their layer, and nobody else', async () => {
    const { cloud } = await deploy();
    const having = cloud.functions.filter(({ environment }) => 'PODLESS_HELM' in environment);
    expect(having.map(({ name }) => name).sort()).toEqual([
      'podless-collector',
      'podless-minimart',
    ]);
    for (const { environment } of having) {
      accessSync(environment['PODLESS_HELM'] ?? '', constants.X_OK);
    }
  });

  test('without its layer a function has no helm', async () => {
    const alter = altered((resources) => {
      const having = Object.values(resources).filter(({ Properties }) => Properties?.['Layers']);
      for (const { Properties = {} } of having) delete Properties['Layers'];
      return having.length;
    });
    const { cloud } = await deploy({ alter });
    expect(JSON.stringify(cloud.functions)).not.toContain('PODLESS_HELM');
  });
});
