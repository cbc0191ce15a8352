import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { groupOf } from '../runtime/kube/rbac.ts';
import type { KubeConnection } from '../runtime/kube/transport.ts';
import { type ControlPlane, type Report, startControlPlane } from './control-plane/index.ts';

/** A cluster to run against: its administrator, who sets it up, and one identity per function. */
export interface Cluster {
  readonly server: string;
  /** Text of a kubeconfig for the person at the keyboard, or the path of the one they gave. */
  readonly kubeconfig: { readonly text: string } | { readonly path: string };
  readonly admin: KubeConnection;
  connectionOf(functionName: string): KubeConnection;
  /** JSON lines of every request, if asked for. */
  readonly auditLogFile?: string;
  /** Only for a cluster of our own. */
  readonly restartApiServer?: () => Promise<void>;
  stop(): Promise<void>;
}

export interface OwnClusterOptions {
  readonly functionNames: readonly string[];
  readonly report?: Report;
  readonly signal?: AbortSignal;
  /** Default false. */
  readonly auditLog?: boolean;
  /** Also controllers, a scheduler and a node. Default false. */
  readonly full?: boolean;
  /** Called with the administrator's connection before those are started. Default: nothing. */
  readonly prepare?: (admin: KubeConnection) => Promise<void>;
}

const userOf = (functionName: string): string => `podless-${functionName}`;

/** A control plane of our own. Each function has a token, and no rights but those that RBAC gives its group. */
export async function startOwnCluster(options: OwnClusterOptions): Promise<Cluster> {
  const { functionNames, prepare, ...rest } = options;
  const users = functionNames.map((name) => ({ name: userOf(name), groups: [groupOf(name)] }));
  const plane = await startControlPlane({
    users,
    prepare: async (started) => prepare?.(connectionTo(started, 'admin')),
    ...rest,
  });
  return {
    server: plane.server,
    kubeconfig: { text: plane.kubeconfig('admin') },
    admin: connectionTo(plane, 'admin'),
    connectionOf: (name) => connectionTo(plane, userOf(name)),
    ...(plane.auditLogFile !== undefined && { auditLogFile: plane.auditLogFile }),
    restartApiServer: () => plane.restartApiServer(),
    stop: () => plane.stop(),
  };
}

function connectionTo(plane: ControlPlane, user: string): KubeConnection {
  const { server, ca } = plane;
  const token = plane.token(user);
  return { server, ca, token: async () => token };
}

/** Any cluster. The functions impersonate their own users, so that they have no more rights there than on AWS. */
export async function connectToCluster(
  path: string,
  prepare?: OwnClusterOptions['prepare'],
): Promise<Cluster> {
  const config = new KubeConfig();
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Error(`--kubeconfig ${path} cannot be read: ${error.message}`);
  });
  config.loadFromString(text);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`--kubeconfig ${path} must have a current-context with a cluster`);
  const admin = await connectionFrom(config, cluster.server);
  await prepare?.(admin);
  return {
    server: cluster.server,
    kubeconfig: { path },
    admin,
    connectionOf: (name) => ({
      ...admin,
      impersonate: { user: userOf(name), groups: [groupOf(name)] },
    }),
    stop: async () => {},
  };
}

/** Credentials may come from a command (as for EKS) and run out, so they are asked for again before each use. */
async function connectionFrom(config: KubeConfig, server: string): Promise<KubeConnection> {
  const credentials = async () => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    return options;
  };
  const { ca, cert, key, rejectUnauthorized, headers } = await credentials();
  return {
    server,
    ...(isPem(ca) && { ca: ca.toString() }),
    ...(isPem(cert) && { clientCert: cert.toString() }),
    ...(isPem(key) && { clientKey: key.toString() }),
    ...(rejectUnauthorized === false && { skipTlsVerify: true }),
    ...(bearerOf(headers) !== undefined && {
      token: async () => bearerOf((await credentials()).headers) ?? '',
    }),
  };
}

const isPem = (value: unknown): value is string | Buffer =>
  typeof value === 'string' || Buffer.isBuffer(value);

function bearerOf(headers: RequestOptions['headers']): string | undefined {
  const value = new Map(Object.entries(headers ?? {})).get('Authorization');
  return typeof value === 'string' ? value.replace(/^Bearer /, '') : undefined;
}
