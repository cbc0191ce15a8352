import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AwsRequest } from './aws-request.ts';

/** Who signed a request, for what and when, as its Authorization header says. */
export interface Signed {
  readonly accessKeyId: string;
  readonly region: string;
  readonly service: string;
  readonly date: string;
  readonly headers: readonly string[];
  readonly signature: string;
  readonly sessionToken: string | undefined;
  /** `20261115T120000Z` */
  readonly time: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Undefined if the request is not signed by Signature Version 4. */
export function readSignature({ headers }: AwsRequest): Signed | undefined {
  const authorization = headers['authorization'];
  if (!authorization?.startsWith(`${ALGORITHM} `)) return undefined;
  const part = (name: string): string =>
    new RegExp(`${name}=([^,\\s]+)`).exec(authorization)?.[1] ?? '';
  const [accessKeyId = '', date = '', region = '', service = ''] = part('Credential').split('/');
  return {
    accessKeyId,
    date,
    region,
    service,
    headers: part('SignedHeaders').split(';'),
    signature: part('Signature'),
    time: headers['x-amz-date'] ?? '',
    sessionToken: headers['x-amz-security-token'],
  };
}

/** Signs anew with the secret and compares: header, query, body or host changed on the way, and it is another signature. */
export function isSignedWith(secret: string, request: AwsRequest, signed: Signed): boolean {
  const { date, region, service, time } = signed;
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256(canonicalRequest(request, signed))].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer>(
    (previous, part) => hmac(previous, part),
    Buffer.from(`AWS4${secret}`),
  );
  const expected = hmac(key, text);
  const actual = Buffer.from(signed.signature, 'hex');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function canonicalRequest(request: AwsRequest, signed: Signed): string {
  const headers = signed.headers.map(
    (name) => `${name}:${(request.headers[name] ?? '').trim().replaceAll(/\s+/g, ' ')}\n`,
  );
  return [
    request.method,
    // Every service but S3 encodes the path, which is encoded already, once more.
    signed.service === 's3' ? request.path : request.path.split('/').map(encode).join('/'),
    canonicalQuery(request.query),
    headers.join(''),
    signed.headers.join(';'),
    sha256(request.body),
  ].join('\n');
}

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

const hmac = (key: Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
