import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { attempted } from '../../runtime/aws/attempts.ts';
import { AwsCallError, called } from '../../runtime/aws/call-error.ts';
import { clientOptions } from '../../runtime/aws/client-options.ts';
import type { Clock } from '../../runtime/clock.ts';
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

/** Its client is shared by all sessions. */
export const createSts = (region: string): STSClient => new STSClient(clientOptions({ region }));

const PATIENCE = { attempts: 3, milliseconds: 5_000 } as const;

/** Assumes the operator's scoped role for one partition and nothing else. */
export async function openSession(
  sts: STSClient,
  session: PartitionSession,
  clock: Clock,
): Promise<SessionCredentials> {
  const { roleArn } = session;
  // STS also limits the size of the policy in a packed form that cannot be computed here.
  for (let limit = MAX_POLICY_CHARACTERS; ; limit /= 2) {
    const call = () => assumeRole(sts, session, sessionPolicy(session, limit));
    try {
      return await attempted(() => called('AssumeRole', call), { ...PATIENCE, clock });
    } catch (error) {
      const { code, fault } =
        error instanceof AwsCallError ? error : { code: '', fault: 'refused' };
      if (code === 'PackedPolicyTooLargeException' && limit >= MAX_POLICY_CHARACTERS / 2) continue;
      throw new TransientError(
        fault === 'denied' ? 'AccessDenied' : 'SessionUnavailable',
        `role ${roleArn} could not be assumed: ${code}`,
      );
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
