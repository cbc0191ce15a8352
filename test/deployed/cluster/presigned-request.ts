/** A token that is not what EKS accepts. The message is constant text: no part of a token may reach a log. */
export class TokenRefusedError extends Error {
  override name = 'TokenRefusedError';
}

/** The query of the presigned `GET https://<host>/?...` that a token holds, each parameter once. */
export type PresignedQuery = ReadonlyMap<ParameterName, string>;

const PREFIX = 'k8s-aws-v1.';
const MAX_TOKEN_LENGTH = 4096;

const required = [
  'Action',
  'Version',
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-Signature',
  'X-Amz-SignedHeaders',
] as const;

/** Only with credentials that run out. */
const optional = 'X-Amz-Security-Token';

export type ParameterName = (typeof required)[number] | typeof optional;

export const stsHost = (region: string): string => `sts.${region}.amazonaws.com`;

/**
 * Opens a token as strictly as the real authenticator must: whoever may choose host, path or an extra parameter of the
 * request that decides who he is, may choose who he is (CVE-2022-2385 was a parameter given twice).
 */
export function readToken(token: string, region: string): PresignedQuery {
  if (token.length > MAX_TOKEN_LENGTH) throw new TokenRefusedError('token is too long');
  if (!token.startsWith(PREFIX)) throw new TokenRefusedError('token has another prefix');
  const url = decodeStrictly(token.slice(PREFIX.length));
  // Compared as text: a URL parser would make many spellings of an address the same.
  const origin = `https://${stsHost(region)}/?`;
  if (!url.startsWith(origin)) throw new TokenRefusedError('URL is not of the regional STS');
  return readQuery(url.slice(origin.length));
}

/** The text comes back the same, or something was in it that the decoder ignored. */
function decodeStrictly(encoded: string): string {
  const bytes = Buffer.from(encoded, 'base64url');
  if (bytes.toString('base64url') !== encoded)
    throw new TokenRefusedError('token is not unpadded base64url');
  const text = bytes.toString('latin1');
  if (!/^[!-~]+$/.test(text)) throw new TokenRefusedError('URL holds more than printable ASCII');
  return text;
}

function readQuery(query: string): PresignedQuery {
  const parameters = new Map<string, string>();
  const seen = new Set<string>();
  for (const pair of query.split('&')) {
    const [name = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0)
      throw new TokenRefusedError('query holds a pair that is not name=value');
    // STS may not care about case, so neither may this.
    if (seen.has(name.toLowerCase())) throw new TokenRefusedError('parameter is there twice');
    seen.add(name.toLowerCase());
    if (!isKnown(name)) throw new TokenRefusedError('query holds an unknown parameter');
    parameters.set(name, decodeValue(value));
  }
  if (!required.every((name) => parameters.has(name)))
    throw new TokenRefusedError('query lacks a parameter');
  return parameters as PresignedQuery;
}

const isKnown = (name: string): name is ParameterName =>
  name === optional || required.some((known) => known === name);

function decodeValue(value: string): string {
  try {
    const decoded = decodeURIComponent(value);
    if (encodeStrictly(decoded) === value) return decoded;
  } catch {
    // Refused below.
  }
  throw new TokenRefusedError('parameter is not encoded as in a signature');
}

/** Everything but letters, digits and `-._~` in hexadecimal, which is the one form that Signature Version 4 signs. */
export const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
