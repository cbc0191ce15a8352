import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiRequest } from './api-request.ts';
import { type Child, spawnChild } from './child.ts';
import type { PlaneFolder } from './plane-folder.ts';
import { webhookArgs } from './token-webhook.ts';
import type { ApiAccess } from './users.ts';
import { waitUntil } from './wait-until.ts';

export interface ApiServerOptions {
  readonly binary: string;
  readonly folder: PlaneFolder;
  readonly port: number;
  readonly etcd: { readonly url: string; readonly child: Child };
  readonly tokenFile: string;
  readonly serviceAccountKey: string;
  readonly auditLogFile: string | undefined;
  readonly tokenWebhookFile: string | undefined;
  /** Pods need a service account, and only the controller-manager makes those. */
  readonly serviceAccounts: boolean;
  readonly adminToken: string;
}

export function startEtcd(binary: string, folder: PlaneFolder, port: number): Promise<Child> {
  const url = `http://127.0.0.1:${port}`;
  return spawnChild({
    name: 'etcd',
    command: binary,
    args: [
      `--data-dir=${folder.file('etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      // It has no peers, but insists on a port to meet them.
      '--listen-peer-urls=http://127.0.0.1:0',
      // The data need not survive a power cut, and this is what takes the time.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
    logFile: folder.file('etcd.log'),
  });
}

export function spawnApiServer(options: ApiServerOptions): Promise<Child> {
  const { folder } = options;
  return spawnChild({
    name: 'kube-apiserver',
    command: options.binary,
    args: [
      `--etcd-servers=${options.etcd.url}`,
      '--bind-address=127.0.0.1',
      // Its own choice would be the address of a network card; a machine may have none.
      '--advertise-address=127.0.0.1',
      // It must not write 127.0.0.1 into the endpoints of the service `kubernetes`: that is
      // refused.
      '--endpoint-reconciler-type=none',
      `--secure-port=${options.port}`,
      // It makes its own certificate there, and finds it again after a restart.
      `--cert-dir=${folder.file('certificates')}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${options.tokenFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${options.serviceAccountKey}`,
      `--service-account-signing-key-file=${options.serviceAccountKey}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--profiling=false',
      ...(options.serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
      ...auditArgs(options.auditLogFile),
      ...webhookArgs(options.tokenWebhookFile),
    ],
    logFile: folder.file('kube-apiserver.log'),
    // Open watches can hold up its orderly end, and etcd has all that matters.
    stopSeconds: 2,
  });
}

/** Waits for /readyz and returns the certificate authority to trust. */
export async function waitForApiServer(
  child: Child,
  options: ApiServerOptions,
  signal: AbortSignal | undefined,
): Promise<ApiAccess> {
  const server = `https://127.0.0.1:${options.port}`;
  const certificate = join(options.folder.file('certificates'), 'apiserver.crt');
  let access: ApiAccess | undefined;
  await waitUntil({
    what: 'kube-apiserver to be ready',
    children: [options.etcd.child, child],
    timeoutSeconds: 90,
    signal,
    async probe() {
      if (!existsSync(certificate)) return 'no certificate yet';
      // The file holds the server's certificate and that of the authority that signed it.
      access = { server, ca: readFileSync(certificate, 'utf8'), token: options.adminToken };
      const { status, body } = await apiRequest(access, { path: '/readyz' });
      return status === 200 || `/readyz answered ${status}: ${body}`;
    },
  });
  if (!access) throw new Error('kube-apiserver is ready, but its certificate was never read');
  return access;
}

function auditArgs(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  return [
    `--audit-policy-file=${join(import.meta.dirname, 'audit-policy.yaml')}`,
    `--audit-log-path=${file}`,
    // Never rotated: a reader follows this one file.
    '--audit-log-maxsize=0',
  ];
}
