import {
  type ApiServerOptions,
  spawnApiServer,
  startEtcd,
  waitForApiServer,
} from './api-server.ts';
import type { Child } from './child.ts';
import { freePort } from './free-port.ts';
import type { PlaneFolder } from './plane-folder.ts';
import { type ApiAccess, admin, type Tokens } from './users.ts';
import { ChildExitedError } from './wait-until.ts';

export interface StartApiOptions {
  readonly binaries: { readonly etcd: string; readonly 'kube-apiserver': string };
  readonly folder: PlaneFolder;
  readonly tokens: Tokens;
  readonly serviceAccountKey: string;
  readonly auditLogFile: string | undefined;
  readonly tokenWebhookFile: string | undefined;
  /** Pods need a service account, and only the controller-manager makes those. */
  readonly serviceAccounts: boolean;
  readonly signal: AbortSignal | undefined;
}

export interface RunningApi {
  /** As admin. */
  readonly access: ApiAccess;
  readonly pid: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** etcd and kube-apiserver, on ports that were free; tries others if someone was faster. */
export async function startApi(options: StartApiOptions, attemptsLeft = 3): Promise<RunningApi> {
  const { binaries, folder, tokens, signal } = options;
  const [etcdPort, port] = await Promise.all([freePort(), freePort()]);
  const etcd = await startEtcd(binaries.etcd, folder, etcdPort);
  let child: Child | undefined;
  try {
    const settings: ApiServerOptions = {
      binary: binaries['kube-apiserver'],
      folder,
      port,
      etcd: { url: `http://127.0.0.1:${etcdPort}`, child: etcd },
      tokenFile: folder.write('tokens.csv', tokens.csv),
      serviceAccountKey: options.serviceAccountKey,
      auditLogFile: options.auditLogFile,
      tokenWebhookFile: options.tokenWebhookFile,
      serviceAccounts: options.serviceAccounts,
      adminToken: tokens.token(admin.name),
    };
    child = await spawnApiServer(settings);
    const access = await waitForApiServer(child, settings, signal);
    return runningApi(child, settings, access);
  } catch (error) {
    await child?.stop();
    await etcd.stop();
    const portTaken =
      error instanceof ChildExitedError && error.message.includes('address already in use');
    if (portTaken && attemptsLeft > 1) return startApi(options, attemptsLeft - 1);
    throw error;
  }
}

function runningApi(first: Child, settings: ApiServerOptions, access: ApiAccess): RunningApi {
  let child = first;
  let restarting: Promise<void> = Promise.resolve();
  const ending = new AbortController();

  async function restart(): Promise<void> {
    await child.stop();
    ending.signal.throwIfAborted();
    child = await spawnApiServer(settings);
    await waitForApiServer(child, settings, ending.signal);
  }

  return {
    access,
    get pid() {
      return child.pid;
    },
    restart() {
      restarting = restarting.catch(() => {}).then(restart);
      return restarting;
    },
    async stop() {
      // A restart under way would otherwise start a process that nobody stops.
      ending.abort(new Error('the control plane was stopped'));
      await restarting.catch(() => {});
      await child.stop();
      await settings.etcd.child.stop();
    },
  };
}
