import { HarnessGap } from '../iam/gap.ts';
import { parsePolicy } from '../iam/policy.ts';
import type { Role } from '../iam/roles.ts';
import { asText, type Json } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Reply } from './aws-request.ts';
import type { Identities, Identity } from './identities.ts';
import { deniedError, escapeXml, ServiceError, xmlReply } from './replies.ts';
import type { NeededAccess, Service } from './service.ts';

export interface StsOptions {
  readonly account: string;
  /** By ARN. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly identities: Identities;
}

/** Gives out sessions of the template's roles, to those whom a role trusts. */
export function createStsService(options: StsOptions): Service {
  return {
    async accesses({ operation, input }) {
      if (operation === 'GetCallerIdentity') return [];
      if (operation !== 'AssumeRole')
        throw new HarnessGap(`the harness does not know sts:${operation}`);
      return [assumeAccess(asText(input['RoleArn']), asText(input['RoleSessionName']), options)];
    },
    async answer(call, identity) {
      return call.operation === 'AssumeRole'
        ? assumeRole(call, options)
        : callerIdentity(identity, options.account);
    },
  };
}

function assumeAccess(arn: string, sessionName: string, { roles }: StsOptions): NeededAccess {
  const role = roles.get(arn);
  // As AWS: whether a role exists is not told to those who may not assume it.
  if (!role)
    throw deniedError('sts', `not authorized to perform: sts:AssumeRole on resource: ${arn}`);
  const context = new Map([['sts:rolesessionname', [sessionName]]]);
  return { action: 'sts:AssumeRole', resource: arn, trust: role.trust, context };
}

/** AWS: a session that was started from a session lasts an hour at most. */
const MAX_CHAINED_SECONDS = 3600;

function assumeRole({ input }: AwsCall, { roles, identities, account }: StsOptions): Reply {
  const { RoleArn, RoleSessionName, DurationSeconds = '3600', Policy: policy } = input;
  const role = roles.get(asText(RoleArn));
  if (!role) throw new HarnessGap(`role ${asText(RoleArn)} was allowed and does not exist`);
  const sessionName = asText(RoleSessionName);
  const seconds = Number(DurationSeconds);
  checkConstraint('roleSessionName', sessionName, /^[\w+=,.@-]{2,64}$/);
  const maxSeconds = Math.min(role.maxSessionSeconds, MAX_CHAINED_SECONDS);
  if (!(seconds >= 900 && seconds <= maxSeconds)) {
    throw new ServiceError(
      'ValidationError',
      `The requested DurationSeconds must be 900 to ${maxSeconds}`,
    );
  }
  const sessionPolicies = policy === undefined ? undefined : [readSessionPolicy(asText(policy))];
  const session = identities.session(role, {
    sessionName,
    seconds,
    ...(sessionPolicies && { sessionPolicies }),
  });
  return sessionReply(session, account);
}

/** AWS takes 2,048 characters of Latin-1: a key of another script must come as `\u` escapes. */
function readSessionPolicy(text: string) {
  checkConstraint('policy', text, /^[\t\n\r\x20-\xff]{1,2048}$/);
  try {
    return parsePolicy(JSON.parse(text) as Json, 'session policy');
  } catch (error) {
    if (error instanceof HarnessGap) throw error;
    throw new ServiceError('MalformedPolicyDocument', String(error));
  }
}

function checkConstraint(name: string, value: string, pattern: RegExp): void {
  if (pattern.test(value)) return;
  throw new ServiceError(
    'ValidationError',
    `1 validation error detected: Value at '${name}' (${value.length} characters) failed to satisfy constraint: ${pattern.source}`,
  );
}

function sessionReply(
  { credentials, arn, userId, expiresAt = 0 }: Identity,
  account: string,
): Reply {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  return xmlReply(
    200,
    `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
      <AssumedRoleUser><AssumedRoleId>${userId}</AssumedRoleId><Arn>${escapeXml(arn)}</Arn></AssumedRoleUser>
      <Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>
      <SessionToken>${sessionToken}</SessionToken><Expiration>${new Date(expiresAt).toISOString()}</Expiration></Credentials>
    </AssumeRoleResult><ResponseMetadata><RequestId>${account}</RequestId></ResponseMetadata></AssumeRoleResponse>`,
  );
}

const callerIdentity = ({ arn, userId }: Identity, account: string): Reply =>
  xmlReply(
    200,
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
      <Arn>${escapeXml(arn)}</Arn><UserId>${escapeXml(userId)}</UserId><Account>${account}</Account>
    </GetCallerIdentityResult><ResponseMetadata><RequestId>${account}</RequestId></ResponseMetadata></GetCallerIdentityResponse>`,
  );
