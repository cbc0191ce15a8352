import { join } from 'node:path';
import { apiRequest } from './api-request.ts';
import { type Child, spawnChild } from './child.ts';
import type { PlaneFolder } from './plane-folder.ts';
import type { ApiAccess, ClusterUser } from './users.ts';
import type { BinaryName } from './versions.ts';
import { waitUntil } from './wait-until.ts';

export type WorkloadBinary = Exclude<BinaryName, 'etcd' | 'kube-apiserver'>;

/** Who each process is for the API server; the scheduler's rights come with every cluster. */
const identities: Record<WorkloadBinary, ClusterUser> = {
  'kube-controller-manager': { name: 'system:kube-controller-manager', groups: ['system:masters'] },
  'kube-scheduler': { name: 'system:kube-scheduler', groups: [] },
  kwok: { name: 'kwok', groups: ['system:masters'] },
};

export const workloadUsers: readonly ClusterUser[] = Object.values(identities);

export interface WorkloadOptions {
  readonly binaries: Readonly<Record<WorkloadBinary, string>>;
  readonly folder: PlaneFolder;
  readonly access: ApiAccess;
  readonly kubeconfig: (user: string) => string;
  readonly serviceAccountKey: string;
  /** Gets each process as soon as it runs, so that it can be stopped if a later one fails. */
  readonly started: (child: Child) => void;
  readonly signal: AbortSignal | undefined;
}

const nodeName = 'node-1';

/**
 * What makes Deployments ready and Jobs complete: controllers, a scheduler, and kwok in place of a
 * node's kubelet.
 */
export async function startWorkloads(options: WorkloadOptions): Promise<void> {
  const { folder, access, serviceAccountKey } = options;
  const ca = folder.write('ca.crt', access.ca);
  // Alone in its cluster, without a port of its own, and with nothing to ask about callers.
  const quiet = ['--leader-elect=false', '--secure-port=0', '--authentication-skip-lookup=true'];
  const children = await Promise.all([
    start(options, 'kube-controller-manager', [
      ...quiet,
      `--service-account-private-key-file=${serviceAccountKey}`,
      `--root-ca-file=${ca}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ]),
    start(options, 'kube-scheduler', [...quiet, '--kube-api-qps=200', '--kube-api-burst=400']),
    start(options, 'kwok', [
      `--config=${join(import.meta.dirname, 'kwok-stages.yaml')}`,
      '--manage-all-nodes=true',
      '--node-ip=10.0.0.1',
      '--cidr=10.64.0.1/16',
      '--node-lease-duration-seconds=40',
    ]),
  ]);
  await createNode(access);
  await waitUntil({
    what: `${nodeName} and the default service account`,
    children,
    timeoutSeconds: 90,
    signal: options.signal,
    probe: () => readyForPods(access),
  });
}

async function start(
  options: WorkloadOptions,
  name: WorkloadBinary,
  args: readonly string[],
): Promise<Child> {
  const { folder } = options;
  const kubeconfig = folder.write(`${name}.kubeconfig`, options.kubeconfig(identities[name].name));
  const child = await spawnChild({
    name,
    command: options.binaries[name],
    args: [`--kubeconfig=${kubeconfig}`, ...args],
    // kwok would also read the settings in the user's home.
    env: { ...process.env, HOME: folder.path },
    logFile: folder.file(`${name}.log`),
  });
  options.started(child);
  return child;
}

async function createNode(access: ApiAccess): Promise<void> {
  const labels = { 'kubernetes.io/hostname': nodeName, 'kubernetes.io/os': 'linux' };
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName, labels } };
  const response = await apiRequest(access, { method: 'POST', path: '/api/v1/nodes', body });
  // 409: a folder that was kept has it already.
  if (response.status !== 201 && response.status !== 409) {
    throw new Error(`cannot create ${nodeName}: ${response.status} ${response.body}`);
  }
}

/**
 * Pods are refused without their service account, and not scheduled while the node still has a
 * not-ready taint.
 */
async function readyForPods(access: ApiAccess): Promise<true | string> {
  const node = await apiRequest(access, { path: `/api/v1/nodes/${nodeName}` });
  if (node.status !== 200) return `${nodeName}: ${node.status}`;
  const { spec, status } = JSON.parse(node.body) as {
    spec: { taints?: readonly unknown[] };
    status: { conditions?: readonly { type: string; status: string }[] };
  };
  const ready = status.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  if (!ready || spec.taints?.length) return `${nodeName} is not ready`;
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  const account = await apiRequest(access, { path });
  return account.status === 200 || `the default service account: ${account.status}`;
}
