import { AssumeRoleCommand, type STSClient } from '@aws-sdk/client-sts';
import { TransientError } from '../../runtime/errors.ts';
import { MAX_POLICY_CHARACTERS, type PartitionScope, sessionPolicy } from './session-policy.ts';

export interface SessionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

export interface PartitionSession extends PartitionScope {
  readonly roleArn: string;
  /** For CloudTrail: on whose behalf. */
  readonly owner: { readonly namespace: string; readonly name: string };
}

/** The most that a role assumed by another role may have; far longer than a function lives. */
const DURATION_SECONDS = 3600;

/** Assumes the operator's scoped role for one partition and nothing else. */
export async function openSession(
  sts: STSClient,
  session: PartitionSession,
): Promise<SessionCredentials> {
  // STS also limits the size of the policy in a packed form that cannot be computed here.
  for (let limit = MAX_POLICY_CHARACTERS; ; limit /= 2) {
    try {
      return await assumeRole(sts, session, sessionPolicy(session, limit));
    } catch (error) {
      const tooLarge = error instanceof Error && error.name === 'PackedPolicyTooLargeException';
      if (!tooLarge || limit < MAX_POLICY_CHARACTERS / 2) throw failure(error, session.roleArn);
    }
  }
}

async function assumeRole(
  sts: STSClient,
  { roleArn, owner }: PartitionSession,
  policy: string,
): Promise<SessionCredentials> {
  const command = new AssumeRoleCommand({
    RoleArn: roleArn,
    RoleSessionName: `${owner.namespace}.${owner.name}`.slice(0, 64),
    Policy: policy,
    DurationSeconds: DURATION_SECONDS,
  });
  const { Credentials } = await sts.send(command);
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) {
    throw new Error('STS answered AssumeRole without credentials');
  }
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: SessionToken,
    expiration: Expiration,
  };
}

/** No cause and no text of the service: it may repeat what was signed. */
function failure(error: unknown, roleArn: string): TransientError {
  const name = error instanceof Error ? error.name : String(error);
  const denied = name === 'AccessDenied' || name === 'AccessDeniedException';
  return new TransientError(
    denied ? 'AccessDenied' : 'SessionUnavailable',
    `role ${roleArn} could not be assumed: ${name}`,
  );
}
