import type { Buckets, StoredContent } from './bucket-folder.ts';
import { listing } from './listing.ts';
import type { S3Request } from './requests.ts';
import { S3Error } from './s3-error.ts';
import { type XmlNode, xmlDocument } from './xml.ts';

export interface S3Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: Buffer | string;
}

const notImplemented = (): S3Error =>
  new S3Error(501, 'NotImplemented', 'This local endpoint does not do that.');

/** The few operations on charts that a person and a function need. */
export async function answer(request: S3Request, buckets: Buckets): Promise<S3Answer> {
  const { bucket, key } = request;
  if (bucket === '') return onService(request, buckets);
  return key === '' ? onBucket(request, buckets) : onObject(request, buckets);
}

async function onService({ method }: S3Request, buckets: Buckets): Promise<S3Answer> {
  if (method !== 'GET') throw notImplemented();
  const all = (await buckets.all()).map(
    ({ name, created }): XmlNode => [
      'Bucket',
      [
        ['Name', name],
        ['CreationDate', created.toISOString()],
      ],
    ],
  );
  return xml(['ListAllMyBucketsResult', [['Buckets', all]]]);
}

async function onBucket(request: S3Request, buckets: Buckets): Promise<S3Answer> {
  const { method, bucket, query } = request;
  if (method === 'PUT' && query.size === 0) {
    await buckets.create(bucket);
    return { status: 200, headers: { location: `/${bucket}` } };
  }
  await buckets.exists(bucket);
  if (method === 'HEAD') return { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' } };
  if (method !== 'GET') throw notImplemented();
  if (query.has('location')) return xml(['LocationConstraint', '']);
  const prefix = query.get('prefix') ?? '';
  return xml(listing(bucket, query, await buckets.list(bucket, prefix)));
}

async function onObject(request: S3Request, buckets: Buckets): Promise<S3Answer> {
  const { method, bucket, key, headers, query } = request;
  if (query.has('uploads') || query.has('uploadId') || headers['x-amz-copy-source']) {
    throw notImplemented();
  }
  switch (method) {
    case 'GET':
    case 'HEAD':
      return content(request, await buckets.read(bucket, key));
    case 'PUT':
      return {
        status: 200,
        headers: { etag: await buckets.write(bucket, key, await request.body()) },
      };
    case 'DELETE':
      await buckets.remove(bucket, key);
      return { status: 204 };
    default:
      throw notImplemented();
  }
}

function content(
  { headers }: S3Request,
  { etag, modified, content: body }: StoredContent,
): S3Answer {
  const known = String(headers['if-none-match'] ?? '').split(/\s*,\s*/);
  if (known.some((one) => one === etag || `"${one}"` === etag)) {
    return { status: 304, headers: { etag } };
  }
  return {
    status: 200,
    headers: {
      etag,
      'last-modified': modified.toUTCString(),
      'content-type': 'application/octet-stream',
      'content-length': body.length,
    },
    body,
  };
}

const xml = (root: XmlNode): S3Answer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: xmlDocument(root),
});
