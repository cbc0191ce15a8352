import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operators } from '../../../functions/operators.ts';
import { type ControlPlane, startControlPlane } from '../../../local/control-plane/index.ts';
import { applyManifests } from '../../../local/manifests.ts';
import { isKubeStatus, type KubeClient } from '../../../runtime/kube/client.ts';
import { createKubeClient } from '../../../runtime/kube/rest-client.ts';
import { until } from '../../helpers/until.ts';
import type { AccessEntry } from './access-entry.ts';
import { type AuthenticatorOptions, startAuthenticator } from './authenticator.ts';

export interface EksClusterOptions extends Omit<AuthenticatorOptions, 'cluster'> {
  readonly name: string;
  /** Those of this cluster. Asked for each token, as the template names roles that exist later than the cluster. */
  readonly accessEntries: () => readonly AccessEntry[];
  /** Writes who did what to `auditLogFile`. Default: false. */
  readonly auditLog?: boolean;
  /** Also controllers, a scheduler and a node. Default: false. */
  readonly workloads?: boolean;
}

/** What DescribeCluster tells, and what the person has who made the cluster. */
export interface EksCluster {
  readonly name: string;
  /** `https://127.0.0.1:port` */
  readonly endpoint: string;
  /** PEM in base64, as in `certificateAuthority.data`. */
  readonly ca: string;
  readonly admin: KubeClient;
  /** Path of a kubeconfig for `admin`. */
  readonly kubeconfig: string;
  /** JSON lines of every request, if asked for. */
  readonly auditLogFile?: string;
  /** Open watches break. */
  restartApiServer(): Promise<void>;
  /** Ends every process. Safe to repeat. */
  stop(): Promise<void>;
}

/** A real control plane behind EKS authentication, with all that `kubectl apply -k crds` brings. */
export async function startEksCluster(options: EksClusterOptions): Promise<EksCluster> {
  const { name, auditLog = false, workloads = false, ...rest } = options;
  const authenticator = await startAuthenticator({ ...rest, cluster: name });
  let plane: ControlPlane | undefined;
  const stop = async () => {
    await plane?.stop();
    await authenticator.stop();
  };
  try {
    const tokenWebhook = { url: authenticator.url };
    plane = await startControlPlane({ users: [], tokenWebhook, auditLog, full: workloads });
    const admin = adminOf(plane);
    await applyManifests(admin);
    await waitUntilListed(admin);
    return describe(name, plane, admin, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** For a moment after a kind is established, its storage asks everybody to come back later: 429. */
async function waitUntilListed(admin: KubeClient): Promise<void> {
  for (const { kind } of operators) {
    await until(() => admin.list(kind, { limit: 1 }).catch(unlessTooEarly), {
      seconds: 30,
      what: async () => `${kind.plural} to be listed`,
    });
  }
}

function unlessTooEarly(error: unknown): undefined {
  if (!isKubeStatus(error, 429)) throw error;
}

function adminOf({ server, ca, token }: ControlPlane): KubeClient {
  return createKubeClient({ server, ca, token: async () => token('admin') });
}

function describe(
  name: string,
  plane: ControlPlane,
  admin: KubeClient,
  stop: () => Promise<void>,
): EksCluster {
  const kubeconfig = join(plane.dir, 'admin.kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfig('admin'), { mode: 0o600 });
  return {
    name,
    endpoint: plane.server,
    ca: Buffer.from(authorityIn(plane.ca)).toString('base64'),
    admin,
    kubeconfig,
    ...(plane.auditLogFile !== undefined && { auditLogFile: plane.auditLogFile }),
    restartApiServer: () => plane.restartApiServer(),
    stop,
  };
}

/** The control plane hands out its server's certificate too; EKS tells only the authority's, which comes last. */
function authorityIn(pem: string): string {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g);
  const authority = certificates?.at(-1);
  if (authority === undefined)
    throw new Error(`expected PEM certificates, got ${pem.length} bytes`);
  return authority;
}
