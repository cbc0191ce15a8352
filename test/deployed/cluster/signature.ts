import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { encodeStrictly, type PresignedQuery } from './presigned-request.ts';

export interface SignedBy {
  readonly secretAccessKey: string;
  /** `20261116T035716Z` */
  readonly date: string;
  readonly region: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether the query's signature (AWS Signature Version 4) is the one that the secret's holder would have made. */
export function isSigned(query: PresignedQuery, by: SignedBy): boolean {
  const given = Buffer.from(query.get('X-Amz-Signature') ?? '');
  const expected = Buffer.from(signatureOf(query, by));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function signatureOf(query: PresignedQuery, by: SignedBy): string {
  const { date, region, secretAccessKey } = by;
  const day = date.slice(0, 8);
  const scope = [day, region, 'sts', 'aws4_request'];
  const toSign = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonicalRequest(query, by))];
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(key, toSign.join('\n')).toString('hex');
}

function canonicalRequest(query: PresignedQuery, { headers }: SignedBy): string {
  const names = Object.keys(headers).toSorted();
  const pairs = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`);
  return [
    'GET',
    '/',
    pairs.toSorted().join('&'),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    sha256(''),
  ].join('\n');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
