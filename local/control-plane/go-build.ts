import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, spawnChild } from './child.ts';
import { beginStep, type Report, type StepReport } from './progress.ts';
import { type BinaryName, kubernetesVersion, kwokVersion } from './versions.ts';

/** A go.mod and go.sum that pin every module; no Go code of ours. */
const moduleFolder = join(import.meta.dirname, 'go');

/** Main packages of that module, with the file name that Go gives their binary. */
const packages: Partial<Record<BinaryName, { readonly path: string; readonly file: string }>> = {
  etcd: { path: 'go.etcd.io/etcd/server/v3', file: 'server' },
  'kube-apiserver': kubernetesCommand('kube-apiserver'),
  'kube-controller-manager': kubernetesCommand('kube-controller-manager'),
  'kube-scheduler': kubernetesCommand('kube-scheduler'),
};

/**
 * kwok needs other versions of the same modules, so it is built from its own go.mod, whose packages
 * are not counted first.
 */
const kwok = { path: `sigs.k8s.io/kwok/cmd/kwok@v${kwokVersion}`, packageCount: 975 };

// Without it the server calls itself v0.0.0, and charts that ask for a version refuse it.
const ldflags = [
  '-s -w',
  `-X k8s.io/component-base/version.gitVersion=v${kubernetesVersion}`,
  `-X k8s.io/client-go/pkg/version.gitVersion=v${kubernetesVersion}`,
].join(' ');

export interface GoBuildOptions {
  readonly names: readonly BinaryName[];
  /** Where the binaries are put, under their own names. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report?: Report | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Builds from source; modules come from the Go module proxy. The checkout is only read. */
export async function buildWithGo({ names, ...context }: GoBuildOptions): Promise<void> {
  const wanted = names.flatMap((name) => (packages[name] ? [{ name, ...packages[name] }] : []));
  if (wanted.length > 0) {
    const paths = wanted.map(({ path }) => path);
    const packageCount = await downloadModules(paths, context);
    const update = beginStep(
      context.report,
      `building ${wanted.map(({ name }) => name).join(', ')}`,
    );
    const flags = ['-v', '-mod=readonly', '-trimpath', `-ldflags=${ldflags}`];
    await runGo(['build', ...flags, '-o', `${context.folder}/`, ...paths], context, (lines) =>
      reportCompiled(update, lines, packageCount),
    );
    for (const { name, file } of wanted) {
      if (file !== name) renameSync(join(context.folder, file), join(context.folder, name));
    }
  }
  if (names.includes('kwok')) {
    const update = beginStep(context.report, 'building kwok');
    await runGo(['install', '-v', '-trimpath', '-ldflags=-s -w', kwok.path], context, (lines) =>
      reportCompiled(update, lines, kwok.packageCount),
    );
  }
}

function kubernetesCommand(name: string) {
  return { path: `k8s.io/kubernetes/cmd/${name}`, file: name };
}

type GoContext = Omit<GoBuildOptions, 'names'>;

/** Fetches what the packages need and returns how many packages that is, themselves included. */
async function downloadModules(paths: readonly string[], context: GoContext): Promise<number> {
  const update = beginStep(context.report, 'downloading Go modules');
  const lines = await runGo(['list', '-mod=readonly', '-deps', ...paths], context, (soFar) => {
    update(`${soFar.filter(isDownload).length} modules`);
  });
  return lines.filter((line) => !isDownload(line)).length;
}

/**
 * `go build -v` names each package when it compiles it; those in Go's own cache are not named, so
 * this may jump.
 */
function reportCompiled(update: StepReport, lines: readonly string[], packageCount: number): void {
  const compiled = lines.filter((line) => !isDownload(line)).length;
  const downloaded = lines.length - compiled;
  if (compiled === 0) update(downloaded > 0 ? `${downloaded} modules downloaded` : undefined);
  else update(`${compiled} of at most ${packageCount} packages`, compiled / packageCount);
}

function isDownload(line: string): boolean {
  return line.startsWith('go: downloading ');
}

/** Runs go, passing all lines so far to `progress` every 2 seconds, and returns them. */
async function runGo(
  args: readonly string[],
  { folder, env, signal }: GoContext,
  progress: (lines: readonly string[]) => void,
): Promise<readonly string[]> {
  signal?.throwIfAborted();
  const logFile = join(folder, `go-${args[0]}-${Date.now()}.log`);
  const child = await spawnChild({
    name: `go ${args[0]}`,
    command: 'go',
    args,
    cwd: moduleFolder,
    env: {
      ...env,
      CGO_ENABLED: '0',
      // A go.work of the user's own must not reach this build.
      GOWORK: 'off',
      GOBIN: folder,
      // Go leaves its working files behind when it is killed; there they go with the folder.
      GOTMPDIR: folder,
    },
    logFile,
  });
  const lines = () => readFileSync(logFile, 'utf8').split('\n').filter(Boolean);
  const timer = setInterval(() => progress(lines()), 2_000);
  const abort = () => void child.stop();
  signal?.addEventListener('abort', abort);
  try {
    const ending = await child.exited;
    await child.stop();
    signal?.throwIfAborted();
    if (ending !== 'exit code 0') throw new Error(failure(child, ending));
    return lines();
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function failure(child: Child, ending: string): string {
  return `${child.name} failed with ${ending}:\n${child.logTail()}`;
}
