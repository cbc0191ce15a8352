import {
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { motoUrl } from './moto-url.ts';

const client = (): S3Client =>
  new S3Client({
    endpoint: motoUrl(),
    region: 'us-east-1',
    credentials: { accessKeyId: 'harness', secretAccessKey: 'harness' },
    forcePathStyle: true,
  });

/** What a person does who releases a chart, with rights of their own. */
export async function uploadChart(Bucket: string, Key: string, Body: Buffer): Promise<void> {
  const s3 = client();
  await s3.send(new CreateBucketCommand({ Bucket })).catch((error: unknown) => {
    if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
  });
  await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
  s3.destroy();
}

/** A bucket in which nothing is. */
export async function createBucket(Bucket: string): Promise<void> {
  const s3 = client();
  await s3.send(new CreateBucketCommand({ Bucket }));
  s3.destroy();
}
