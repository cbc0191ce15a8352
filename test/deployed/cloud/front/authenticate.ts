import type { AwsRequest } from './aws-request.ts';
import { type Identities, type Identity, isExpired } from './identities.ts';
import { isSignedWith, type Signed } from './signature.ts';

export type Authentication =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** AWS takes requests that were signed at most this long ago, or so much in the future. */
const MAX_SKEW_MILLISECONDS = 5 * 60_000;

/** Who signed the request, if the signature is right and neither it nor the credentials are too old. */
export function authenticate(
  request: AwsRequest,
  signed: Signed,
  identities: Identities,
): Authentication {
  const identity = identities.find(signed.accessKeyId);
  if (!identity || signed.sessionToken !== identity.credentials.sessionToken) {
    return failed(
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    );
  }
  if (!isSignedWith(identity.credentials.secretAccessKey, request, signed)) {
    return failed(
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
    );
  }
  if (isTooOld(signed))
    return failed('InvalidSignatureException', `Signature expired: ${signed.time}`);
  if (isExpired(identity)) {
    return failed('ExpiredTokenException', 'The security token included in the request is expired');
  }
  return { ok: true, identity };
}

function isTooOld({ time }: Signed): boolean {
  const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return !(Math.abs(Date.now() - Date.parse(iso)) <= MAX_SKEW_MILLISECONDS);
}

const failed = (code: string, message: string): Authentication => ({ ok: false, code, message });
