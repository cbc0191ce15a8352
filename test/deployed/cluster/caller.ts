import {
  type ParameterName,
  type PresignedQuery,
  readToken,
  stsHost,
  TokenRefusedError,
} from './presigned-request.ts';
import { isSigned } from './signature.ts';

/** Who an access key was given to. */
export interface KeyHolder {
  readonly secretAccessKey: string;
  /** Only of credentials that run out, and then part of every request. */
  readonly sessionToken?: string;
  /** `arn:aws:iam::<account>:role/<path and name>` */
  readonly roleArn: string;
  readonly sessionName: string;
}

/** Undefined for a key that was never given out, or is no longer good. */
export type Identify = (accessKeyId: string) => KeyHolder | undefined;

export interface CallerOptions {
  /** Name of the EKS cluster. */
  readonly cluster: string;
  readonly region: string;
  readonly identify: Identify;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const MINUTE = 60_000;
const VALID_MILLISECONDS = 15 * MINUTE;
const CLOCK_SKEW_MILLISECONDS = 5 * MINUTE;
const MAX_EXPIRES_SECONDS = 900;
const compactDate = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** What every token says, whoever made it. */
const fixed: Partial<Record<ParameterName, string>> = {
  Action: 'GetCallerIdentity',
  Version: '2011-06-15',
  'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
  'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
};

/** Answers as STS would, asked for this cluster. Throws TokenRefusedError. */
export function callerOf(token: string, options: CallerOptions): KeyHolder {
  const { cluster, region, identify, now } = options;
  const query = readToken(token, region);
  const given = (name: ParameterName): string => query.get(name) ?? '';
  for (const [name, value] of Object.entries(fixed)) {
    if (given(name as ParameterName) !== value)
      throw new TokenRefusedError(`${name} must be ${value}`);
  }
  const date = given('X-Amz-Date');
  checkTime(date, now);
  checkExpires(given('X-Amz-Expires'));
  const holder = identify(accessKeyOf(given('X-Amz-Credential'), date, region));
  if (holder === undefined) throw new TokenRefusedError('access key is not known');
  checkSessionToken(query, holder);
  const { secretAccessKey } = holder;
  // Not in the token: each cluster puts in its own name, so a token for another one has another signature.
  const headers = { host: stsHost(region), 'x-k8s-aws-id': cluster };
  if (!isSigned(query, { secretAccessKey, date, region, headers }))
    throw new TokenRefusedError('signature does not match');
  return holder;
}

function checkTime(date: string, now: number): void {
  const iso = date.replace(compactDate, '$1-$2-$3T$4:$5:$6Z');
  const signedAt = compactDate.test(date) ? Date.parse(iso) : Number.NaN;
  if (Number.isNaN(signedAt))
    throw new TokenRefusedError('X-Amz-Date must be a date like 20261116T035716Z');
  if (signedAt - now > CLOCK_SKEW_MILLISECONDS)
    throw new TokenRefusedError('token is from the future');
  if (now - signedAt > VALID_MILLISECONDS) throw new TokenRefusedError('token is too old');
}

/** It must be there and in range; how long a token is good does not depend on it. */
function checkExpires(text: string): void {
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > MAX_EXPIRES_SECONDS)
    throw new TokenRefusedError(`X-Amz-Expires must be 1 to ${MAX_EXPIRES_SECONDS}`);
}

function accessKeyOf(credential: string, date: string, region: string): string {
  const [accessKeyId = '', ...scope] = credential.split('/');
  if (scope.join('/') !== `${date.slice(0, 8)}/${region}/sts/aws4_request`)
    throw new TokenRefusedError('credential is not for STS in this region on this day');
  return accessKeyId;
}

function checkSessionToken(query: PresignedQuery, { sessionToken }: KeyHolder): void {
  if (query.get('X-Amz-Security-Token') !== sessionToken)
    throw new TokenRefusedError('session token is not that of the access key');
}
