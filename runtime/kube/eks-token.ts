import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { CredentialProvider } from '../aws/credentials.ts';
import type { Clock } from '../clock.ts';
import type { KubeConnection } from './transport.ts';

export interface EksTokenOptions {
  /** Name of the cluster: the token is good for no other. */
  readonly cluster: string;
  readonly region: string;
  readonly credentials: CredentialProvider;
  readonly clock: Clock;
}

export type EksToken = Required<Pick<KubeConnection, 'token' | 'forgetToken'>>;

/** The cluster takes a token for 15 minutes after it was signed, by its own clock. */
const RENEW_AFTER_MILLISECONDS = 10 * 60_000;

/**
 * The function's own identity as EKS wants it: a bearer token that is a signed request to STS, "who am I". The cluster
 * sends the request and gets our role as the answer. Whoever holds the token is us: it is never logged.
 */
export function createEksToken(options: EksTokenOptions): EksToken {
  let current: { readonly token: Promise<string>; readonly renewAt: number } | undefined;
  return {
    token: () => {
      const now = options.clock.now();
      if (current === undefined || now >= current.renewAt) {
        const signed = { token: signToken(options), renewAt: now + RENEW_AFTER_MILLISECONDS };
        signed.token.catch(() => {
          if (current === signed) current = undefined;
        });
        current = signed;
      }
      return current.token;
    },
    forgetToken: () => {
      current = undefined;
    },
  };
}

async function signToken({
  cluster,
  region,
  credentials,
  clock,
}: EksTokenOptions): Promise<string> {
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256 });
  // Always the public name, whatever endpoint our own calls go to: it is the cluster that makes this one.
  const hostname = `sts.${region}.${dnsSuffixOf(region)}`;
  const { query = {} } = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': cluster },
    },
    { signingDate: new Date(clock.now()), expiresIn: 60 },
  );
  const parameters = Object.entries(query).map(
    ([name, value]) => `${name}=${percentEncoded(String(value))}`,
  );
  const url = `https://${hostname}/?${parameters.join('&')}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}

/** Partitions with a domain of their own, by the beginning of their regions' names. */
const dnsSuffixes: Readonly<Record<string, string>> = {
  'cn-': 'amazonaws.com.cn',
  'eusc-': 'amazonaws.eu',
  'us-iso-': 'c2s.ic.gov',
  'us-isob-': 'sc2s.sgov.gov',
  'us-isof-': 'csp.hci.ic.gov',
  'eu-isoe-': 'cloud.adc-e.uk',
};

const dnsSuffixOf = (region: string): string =>
  Object.entries(dnsSuffixes).find(([start]) => region.startsWith(start))?.[1] ?? 'amazonaws.com';

/** As the signature has it: encodeURIComponent leaves five characters that RFC 3986 does not. */
const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

type Secret = string | ArrayBuffer | ArrayBufferView;

/** What the signer makes its digests with: a class, since it calls `new`. */
class Sha256 {
  readonly #digest: Hash | Hmac;

  constructor(secret?: Secret) {
    this.#digest =
      secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }

  update(chunk: Secret): void {
    this.#digest.update(toBytes(chunk));
  }

  async digest(): Promise<Uint8Array> {
    return this.#digest.digest();
  }

  reset(): void {
    throw new Error('a digest must be used once only');
  }
}

function toBytes(data: Secret): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
