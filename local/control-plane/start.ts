import { resolveBinaries } from './binaries.ts';
import type { Child } from './child.ts';
import { openPlaneFolder, type PlaneFolder, serviceAccountKey } from './plane-folder.ts';
import { beginStep, type Report } from './progress.ts';
import { type RunningApi, startApi } from './start-api.ts';
import { type TokenWebhook, writeWebhookConfig } from './token-webhook.ts';
import { admin, type ClusterUser, createTokens, kubeconfigText, type Tokens } from './users.ts';
import { apiBinaries, type BinaryName, binaryNames } from './versions.ts';
import { startWorkloads, workloadUsers } from './workloads.ts';

export type Binaries = Readonly<Partial<Record<BinaryName, string>>>;

export interface ControlPlaneOptions {
  /** Each gets a token of its own; `admin` in `system:masters` is always there too. */
  readonly users: readonly ClusterUser[];
  /** Paths of binaries. Default: `resolveBinaries` finds, fetches or builds what is needed. */
  readonly binaries?: Binaries;
  /**
   * Keeps data, keys and logs there, and leaves them on stop.
   * Default: a temporary folder, removed on stop.
   */
  readonly dir?: string;
  /** Writes who did what to `auditLogFile`. Default: false. */
  readonly auditLog?: boolean;
  /** Asked about tokens that are no user's, by TokenReview `authentication.k8s.io/v1`. Default: nobody is. */
  readonly tokenWebhook?: TokenWebhook;
  /** Also runs controller-manager, scheduler and kwok with one node. Default: false. */
  readonly full?: boolean;
  /**
   * Called once the API server answers, before those are started: the garbage collector learns only every half minute of
   * kinds that it did not find at its start. Default: nothing.
   */
  readonly prepare?: (plane: ControlPlane) => Promise<void>;
  readonly report?: Report;
  /** Ends the start, and only the start; a running control plane ends by `stop`. */
  readonly signal?: AbortSignal;
}

export interface ControlPlane {
  /** `https://127.0.0.1:port` */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly dir: string;
  /** JSON lines of `audit.k8s.io/v1` Events, if asked for. */
  readonly auditLogFile?: string;
  readonly apiServerPid: number;
  token(user: string): string;
  /** YAML text. */
  readonly kubeconfig: (user: string) => string;
  /** Same address, certificate, tokens and data; open watches break. Also after it was killed. */
  restartApiServer(): Promise<void>;
  /** Ends every process. Safe to repeat. */
  stop(): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { report, full = false } = options;
  const tokens = createTokens([admin, ...options.users, ...(full ? workloadUsers : [])]);
  const binaries = await completeBinaries(options);
  const folder = openPlaneFolder(options.dir);
  const workloads: Child[] = [];
  let api: RunningApi | undefined;
  const stop = onlyOnce(async () => {
    // Nobody loses what it depends on.
    await Promise.all(workloads.map((child) => child.stop()));
    await api?.stop();
    await folder.remove();
  });

  try {
    const shared = {
      binaries,
      folder,
      serviceAccountKey: serviceAccountKey(folder),
      signal: options.signal,
    };
    const auditLogFile = options.auditLog ? folder.file('audit.log') : undefined;
    beginStep(report, 'starting etcd and kube-apiserver');
    const tokenWebhookFile = writeWebhookConfig(folder, options.tokenWebhook);
    const settings = { tokens, auditLogFile, tokenWebhookFile, serviceAccounts: full };
    api = await startApi({ ...shared, ...settings });
    const plane = describePlane({ api, tokens, folder, auditLogFile, stop });
    await options.prepare?.(plane);
    if (full) {
      beginStep(report, 'starting controller-manager, scheduler and kwok');
      await startWorkloads({
        ...shared,
        access: api.access,
        kubeconfig: plane.kubeconfig,
        started: (child) => workloads.push(child),
      });
    }
    return plane;
  } catch (error) {
    await stop();
    throw error;
  }
}

interface PlaneParts {
  readonly api: RunningApi;
  readonly tokens: Tokens;
  readonly folder: PlaneFolder;
  readonly auditLogFile: string | undefined;
  readonly stop: () => Promise<void>;
}

function describePlane({ api, tokens, folder, auditLogFile, stop }: PlaneParts): ControlPlane {
  const { server, ca } = api.access;
  return {
    server,
    ca,
    dir: folder.path,
    ...(auditLogFile === undefined ? {} : { auditLogFile }),
    get apiServerPid() {
      return api.pid;
    },
    token: (user) => tokens.token(user),
    kubeconfig: (user) => kubeconfigText({ server, ca, token: tokens.token(user) }, user),
    restartApiServer: () => api.restart(),
    stop,
  };
}

async function completeBinaries(
  options: ControlPlaneOptions,
): Promise<Readonly<Record<BinaryName, string>>> {
  const { binaries = {}, full, report, signal } = options;
  const needed: readonly BinaryName[] = full ? binaryNames : apiBinaries;
  const missing = needed.filter((name) => binaries[name] === undefined);
  return { ...(await resolveBinaries(missing, { report, signal })), ...binaries };
}

function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
