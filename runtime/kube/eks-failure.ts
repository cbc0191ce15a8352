import { KubeApiError, KubeConnectionError } from './client.ts';
import type { ClusterAddress } from './eks-address.ts';

export interface Explained {
  /** Nobody, or somebody else, is at the address: it may be an old one. */
  readonly isLost: boolean;
  /** Of the same class, so that it is tried again as the first one would be. */
  readonly explained: unknown;
}

const notThere: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'TimeoutError',
]);
const wrongCertificate = /CERT|VERIFY_LEAF|^ERR_(TLS|SSL)_|^EPROTO$/;

/** Says which cluster a request failed at, and what to check. */
export function explainFailure(error: unknown, cluster: string, at: ClusterAddress): Explained {
  if (error instanceof KubeApiError && error.status === 401) {
    // The transport has tried a second time, with a token signed just now.
    const message = `cluster "${cluster}" does not accept this function's role: it needs an access entry`;
    return { isLost: false, explained: new KubeApiError(401, error.reason, message) };
  }
  if (!(error instanceof KubeConnectionError)) return { isLost: false, explained: error };
  const { cause } = error;
  const code = codeOf(cause);
  const message = `cluster "${cluster}" at ${at.server}: ${error.message}${hintFor(code, at)}`;
  return { isLost: true, explained: new KubeConnectionError(message, { cause }) };
}

function hintFor(code: string, { isPrivate }: ClusterAddress): string {
  if (notThere.has(code)) {
    const condition = isPrivate ? 'its endpoint is private' : 'if its endpoint is private';
    return ` (${code}); ${condition}: deploy with -c vpcId=... -c subnetIds=..., and open its security group to the functions`;
  }
  return wrongCertificate.test(code)
    ? ` (${code}); its certificate must be signed by the authority that EKS names`
    : '';
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
