import { createHash, createHmac } from 'node:crypto';

type Pair = readonly [name: string, value: string];

/** How to make a token, or a forgery that is right in all respects but one. */
export interface TokenRecipe {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly cluster: string;
  readonly region: string;
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number;
  /** Default: that of the region. */
  readonly host?: string;
  /** Default `sts`. */
  readonly service?: string;
  /** Default: the host and the cluster's name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes the query before it is signed: what comes out is signed as it is. */
  readonly query?: (pairs: readonly Pair[]) => readonly Pair[];
  /** Changes the URL after it was signed. */
  readonly url?: (url: string) => string;
}

/**
 * An EKS token, made from the description of Signature Version 4 and nothing of the project: the verifier and the
 * product must agree with it, not with each other.
 */
export function signToken(recipe: TokenRecipe): string {
  const { region, host = `sts.${region}.amazonaws.com`, url = (same) => same } = recipe;
  const date = compact(new Date(recipe.at ?? Date.now()));
  const scope = `${date.slice(0, 8)}/${region}/${recipe.service ?? 'sts'}/aws4_request`;
  const headers = recipe.headers ?? { host, 'x-k8s-aws-id': recipe.cluster };
  const query = queryOf(recipe, { date, scope, headers });
  const request = `GET\n/\n${query}\n${canonicalHeaders(headers)}\n${hash('')}`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash(request)}`;
  let key: Uint8Array = Buffer.from(`AWS4${recipe.secretAccessKey}`);
  for (const part of scope.split('/')) key = keyed(key, part);
  const signed = `https://${host}/?${query}&X-Amz-Signature=${keyed(key, text).toString('hex')}`;
  return `k8s-aws-v1.${Buffer.from(url(signed)).toString('base64url')}`;
}

interface Signing {
  readonly date: string;
  readonly scope: string;
  readonly headers: Readonly<Record<string, string>>;
}

function queryOf(recipe: TokenRecipe, { date, scope, headers }: Signing): string {
  const { accessKeyId, sessionToken, query = (same) => same } = recipe;
  const pairs: readonly Pair[] = [
    ['Action', 'GetCallerIdentity'],
    ['Version', '2011-06-15'],
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${accessKeyId}/${scope}`],
    ['X-Amz-Date', date],
    ['X-Amz-Expires', '60'],
    ...(sessionToken === undefined ? [] : [['X-Amz-Security-Token', sessionToken] as const]),
    ['X-Amz-SignedHeaders', Object.keys(headers).sort().join(';')],
  ];
  const encoded = query(pairs).map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  return encoded.sort().join('&');
}

function canonicalHeaders(headers: Readonly<Record<string, string>>): string {
  const names = Object.keys(headers).sort();
  return `${names.map((name) => `${name}:${headers[name]}\n`).join('')}\n${names.join(';')}`;
}

const compact = (date: Date): string => `${date.toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`;

const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => String.fromCharCode(byte))
    .map((one) =>
      /[\w.~-]/.test(one) ? one : `%${Buffer.from(one, 'latin1').toString('hex').toUpperCase()}`,
    )
    .join('');

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const keyed = (key: Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
