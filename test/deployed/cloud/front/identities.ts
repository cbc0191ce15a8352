import { randomBytes } from 'node:crypto';
import type { Caller } from '../iam/evaluate.ts';
import type { Context } from '../iam/pattern.ts';
import type { Policy } from '../iam/policy.ts';
import type { Role } from '../iam/roles.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** Someone with credentials. `harness` is the test itself: it may do all, and is not recorded. */
export interface Identity {
  readonly credentials: Credentials;
  readonly caller: Caller | 'harness';
  /** As GetCallerIdentity answers. */
  readonly arn: string;
  readonly userId: string;
  /** For the record. */
  readonly role?: Role;
  readonly context: Context;
  /** Milliseconds since the epoch; none for credentials that Lambda renews by itself. */
  readonly expiresAt?: number;
}

export interface SessionOptions {
  readonly sessionName: string;
  readonly sessionPolicies?: readonly Policy[];
  readonly seconds?: number;
}

/** Everyone who may call AWS, by access key. */
export interface Identities {
  find(accessKeyId: string): Identity | undefined;
  /** A session of a role, as Lambda, a Pipe or AssumeRole starts it. */
  session(role: Role, options: SessionOptions): Identity;
  /** A service of AWS that acts for a resource. */
  service(service: string, sourceArn: string): Identity;
  harness(): Identity;
}

type Someone = Omit<Identity, 'credentials'>;

export function createIdentities(account: string): Identities {
  const known = new Map<string, Identity>();
  const add = (someone: Someone): Identity => {
    const added = { ...someone, credentials: newCredentials() };
    known.set(added.credentials.accessKeyId, added);
    return added;
  };
  return {
    find: (accessKeyId) => known.get(accessKeyId),
    session: (role, options) => add(sessionOf(role, options, account)),
    service: (service, sourceArn) => add(serviceFor(service, sourceArn, account)),
    harness: () => add({ caller: 'harness', arn: 'harness', userId: '', context: new Map() }),
  };
}

function sessionOf(role: Role, options: SessionOptions, account: string): Someone {
  const { sessionName, sessionPolicies, seconds } = options;
  const { arn, policies } = role;
  const userId = `${role.roleId}:${sessionName}`;
  return {
    caller: { type: 'role', arn, account, policies, ...(sessionPolicies && { sessionPolicies }) },
    role,
    arn: `arn:aws:sts::${account}:assumed-role/${role.name}/${sessionName}`,
    userId,
    context: contextOf({
      'aws:principalarn': arn,
      'aws:principalaccount': account,
      'aws:principaltype': 'AssumedRole',
      'aws:userid': userId,
    }),
    ...(seconds !== undefined && { expiresAt: Date.now() + seconds * 1000 }),
  };
}

const serviceFor = (service: string, sourceArn: string, account: string): Someone => ({
  caller: { type: 'service', service },
  arn: service,
  userId: service,
  context: contextOf({ 'aws:sourcearn': sourceArn, 'aws:sourceaccount': account }),
});

/** The harness speaks plain HTTP where AWS has TLS, so what depends on it must see TLS. */
function contextOf(own: Readonly<Record<string, string>>): Context {
  const values = Object.entries({ 'aws:securetransport': 'true', ...own });
  return new Map(values.map(([key, value]) => [key, [value]]));
}

export const isExpired = ({ expiresAt }: Identity): boolean =>
  expiresAt !== undefined && expiresAt <= Date.now();

const newCredentials = (): Credentials => ({
  accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
  secretAccessKey: randomBytes(30).toString('base64'),
  sessionToken: randomBytes(60).toString('base64'),
});
