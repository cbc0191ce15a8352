import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';

/** An identity that the API server knows; what it may do is up to RBAC. */
export interface ClusterUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Always there; the group may do everything. */
export const admin: ClusterUser = { name: 'admin', groups: ['system:masters'] };

/** A fresh random token per user, with helpful answers to unknown names. */
export interface Tokens {
  token(user: string): string;
  /** The text of a `--token-auth-file`. */
  readonly csv: string;
}

export function createTokens(users: readonly ClusterUser[]): Tokens {
  const tokens = new Map<string, string>();
  const rows = users.map(({ name, groups }) => {
    if (tokens.has(name)) throw new Error(`user ${name} is there twice (admin is always added)`);
    const bad = [name, ...groups].find((word) => !/^[^\s",]+$/.test(word));
    if (bad !== undefined) {
      throw new Error(
        `user ${name}: a name or group must not hold spaces, commas or quotes, got "${bad}"`,
      );
    }
    const token = randomBytes(24).toString('base64url');
    tokens.set(name, token);
    return `${token},${name},${name},"${groups.join(',')}"\n`;
  });
  return {
    csv: rows.join(''),
    token(user) {
      const token = tokens.get(user);
      if (token === undefined) {
        throw new Error(
          `no user ${user} in this control plane, only ${[...tokens.keys()].join(', ')}`,
        );
      }
      return token;
    },
  };
}

export interface ApiAccess {
  /** `https://127.0.0.1:port` */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

export function kubeconfigText({ server, ca, token }: ApiAccess, user: string): string {
  const cluster = 'podless';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: cluster,
        cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: cluster, context: { cluster, user } }],
    'current-context': cluster,
  });
}
