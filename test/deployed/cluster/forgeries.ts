import { signToken, type TokenRecipe } from './sign-token.ts';

type Query = NonNullable<TokenRecipe['query']>;

/** A token, and why it must be refused. */
export type Forgery = readonly [what: string, token: string, reason: string];

/** Tokens that are each wrong in one respect only: signed with the right secret, unless they say otherwise. */
export const forgeries = (good: TokenRecipe, now: number): readonly Forgery[] =>
  changes(good, now).map(([what, change, reason]) => [
    what,
    signToken({ ...good, ...change }),
    reason,
  ]);

const MINUTE = 60_000;

const without =
  (name: string): Query =>
  (pairs) =>
    pairs.filter(([one]) => one !== name);
const plus =
  (name: string, value: string): Query =>
  (pairs) => [...pairs, [name, value]];
const set =
  (name: string, value: string): Query =>
  (pairs) =>
    pairs.map((pair) => (pair[0] === name ? [name, value] : pair));

function renamed(pairs: readonly (readonly [string, string])[]) {
  return pairs.map(([name, value]) => [name === 'Action' ? 'action' : name, value] as const);
}

const changes = (
  { cluster, region }: TokenRecipe,
  now: number,
): readonly (readonly [what: string, change: Partial<TokenRecipe>, reason: string])[] => [
  ['for another cluster', { cluster: 'staging' }, 'signature does not match'],
  ['for a cluster with a longer name', { cluster: 'prod2' }, 'signature does not match'],
  [
    'signed with another secret',
    { secretAccessKey: 'secret-of-stranger' },
    'signature does not match',
  ],
  ['16 minutes old', { at: now - 16 * MINUTE }, 'token is too old'],
  ['from 6 minutes ahead', { at: now + 6 * MINUTE }, 'token is from the future'],
  ['of an unknown key', { accessKeyId: 'ASIANOBODY' }, 'access key is not known'],
  ['of a key like __proto__', { accessKeyId: '__proto__' }, 'access key is not known'],
  [
    'with the session token of another',
    { sessionToken: 'session-of-stranger' },
    'session token is not that of the access key',
  ],
  [
    'without its session token',
    { query: without('X-Amz-Security-Token') },
    'session token is not that of the access key',
  ],
  [
    'with another header signed than the cluster',
    { headers: { host: `sts.${region}.amazonaws.com`, 'x-other': cluster } },
    'X-Amz-SignedHeaders must be host;x-k8s-aws-id',
  ],
  [
    'with only the host signed',
    { headers: { host: `sts.${region}.amazonaws.com` } },
    'X-Amz-SignedHeaders must be host;x-k8s-aws-id',
  ],
  [
    'to the STS of another region',
    { host: 'sts.us-east-1.amazonaws.com' },
    'URL is not of the regional STS',
  ],
  ['to the global STS', { host: 'sts.amazonaws.com' }, 'URL is not of the regional STS'],
  [
    'to a host that only begins like STS',
    { host: `sts.${region}.amazonaws.com.example.com` },
    'URL is not of the regional STS',
  ],
  [
    'signed for another region',
    { region: 'us-east-1', host: `sts.${region}.amazonaws.com` },
    'credential is not for STS in this region on this day',
  ],
  [
    'signed for another service',
    { service: 'iam' },
    'credential is not for STS in this region on this day',
  ],
  [
    'for another action',
    { query: set('Action', 'AssumeRole') },
    'Action must be GetCallerIdentity',
  ],
  ['for another version', { query: set('Version', '2010-01-01') }, 'Version must be 2011-06-15'],
  [
    'with the action twice',
    { query: plus('Action', 'GetCallerIdentity') },
    'parameter is there twice',
  ],
  [
    'with the action twice, once in lower case',
    { query: plus('action', 'GetUser') },
    'parameter is there twice',
  ],
  ['with the action in lower case', { query: renamed }, 'query holds an unknown parameter'],
  [
    'with another parameter',
    { query: plus('RoleArn', 'arn:aws:iam::1:role/x') },
    'query holds an unknown parameter',
  ],
  ['without a date', { query: without('X-Amz-Date') }, 'query lacks a parameter'],
  [
    'with a date that is none',
    { query: set('X-Amz-Date', 'now') },
    'X-Amz-Date must be a date like 20261116T035716Z',
  ],
  [
    'that would never expire',
    { query: set('X-Amz-Expires', '604800') },
    'X-Amz-Expires must be 1 to 900',
  ],
  [
    'over plain http',
    { url: (url) => url.replace('https', 'http') },
    'URL is not of the regional STS',
  ],
  [
    'with another path',
    { url: (url) => url.replace('.com/?', '.com/x?') },
    'URL is not of the regional STS',
  ],
  [
    'with a port',
    { url: (url) => url.replace('.com/', '.com:443/') },
    'URL is not of the regional STS',
  ],
  [
    'with a user before the host',
    { url: (url) => url.replace('//', '//sts@') },
    'URL is not of the regional STS',
  ],
  [
    'with a host in capitals',
    { url: (url) => url.replace('//sts', '//STS') },
    'URL is not of the regional STS',
  ],
  [
    'with a parameter added after signing',
    { url: (url) => `${url}&Action=GetUser` },
    'parameter is there twice',
  ],
  ['with a fragment', { url: (url) => `${url}#x` }, 'parameter is not encoded as in a signature'],
  ['with junk after it', { url: (url) => `${url}00` }, 'signature does not match'],
  ['with a line after it', { url: (url) => `${url}\n` }, 'URL holds more than printable ASCII'],
  ['cut short', { url: (url) => url.slice(0, -1) }, 'signature does not match'],
  [
    'with a signature in capitals',
    { url: (url) => url.replace(/[^=]*$/, (hex) => hex.toUpperCase()) },
    'signature does not match',
  ],
  [
    'with a value encoded in another way',
    { url: (url) => url.replace('GetCaller', '%47etCaller') },
    'parameter is not encoded as in a signature',
  ],
];
