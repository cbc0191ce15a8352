import { createHash, createHmac } from 'node:crypto';

/** A token taken apart as EKS does it, without any code of ours or of the SDK. */
export interface ReadToken {
  readonly url: URL;
  /** Every parameter once; a repeated one throws. */
  readonly parameters: ReadonlyMap<string, string>;
}

export function readToken(token: string): ReadToken {
  const encoded = /^k8s-aws-v1\.([\w-]+)$/.exec(token)?.[1];
  if (encoded === undefined) throw new Error('a token must be k8s-aws-v1. and base64url');
  const url = new URL(Buffer.from(encoded, 'base64url').toString());
  const parameters = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (parameters.has(name)) throw new Error(`parameter ${name} must be there once`);
    parameters.set(name, value);
  }
  return { url, parameters };
}

/**
 * Signature Version 4 as its specification says, of a GET without a body. True if whoever signed has the secret and meant
 * this cluster.
 */
export function isSignedFor(
  { url, parameters }: ReadToken,
  cluster: string,
  secretAccessKey: string,
): boolean {
  const [, date = '', region = '', service = '', end = ''] =
    parameters.get('X-Amz-Credential')?.split('/') ?? [];
  const query = [...parameters]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const canonical = [
    'GET',
    '/',
    query,
    `host:${url.host}`,
    `x-k8s-aws-id:${cluster}`,
    '',
    'host;x-k8s-aws-id',
    sha256(''),
  ].join('\n');
  const scope = [date, region, service, end].join('/');
  const toSign = ['AWS4-HMAC-SHA256', parameters.get('X-Amz-Date'), scope, sha256(canonical)].join(
    '\n',
  );
  const key = [date, region, service, end].reduce<Buffer | string>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  return signature === parameters.get('X-Amz-Signature');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const encode = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[\w.~-]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
