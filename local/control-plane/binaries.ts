import { delimiter, join } from 'node:path';
import { binaryCacheFolder, fillCache, isExecutable } from './cache.ts';
import { ChecksumError, downloadEnvtest } from './envtest-archive.ts';
import { buildWithGo } from './go-build.ts';
import { withLock } from './lock.ts';
import { beginStep, type Report } from './progress.ts';
import { apiBinaries, type BinaryName, kubernetesVersion } from './versions.ts';

export interface ResolveOptions {
  readonly report?: Report | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

interface Search {
  readonly found: Map<BinaryName, string>;
  readonly missing: () => BinaryName[];
  /** Why each way that was tried did not do, for the message when none is left. */
  readonly reasons: string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cache: string;
  readonly report: Report | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds the named binaries, or fetches or builds them: `KUBEBUILDER_ASSETS`, our cache, the envtest
 * release archive, Go. The first time takes seconds with the internet and minutes with Go; later
 * the cache has them.
 */
export async function resolveBinaries<N extends BinaryName>(
  names: readonly N[],
  options: ResolveOptions = {},
): Promise<Record<N, string>> {
  const env = options.env ?? process.env;
  const found = new Map<BinaryName, string>();
  const search: Search = {
    found,
    missing: () => names.filter((name) => !found.has(name)),
    reasons: [],
    env,
    cache: binaryCacheFolder(env),
    report: options.report,
    signal: options.signal,
  };
  lookInAssets(search);
  lookInCache(search);
  if (search.missing().length > 0) await fetchOrBuild(search);
  return Object.fromEntries(found) as Record<N, string>;
}

function lookInAssets({ found, missing, env }: Search): void {
  const folder = env.KUBEBUILDER_ASSETS;
  if (!folder) return;
  for (const name of missing()) {
    const file = join(folder, name);
    if (isExecutable(file)) found.set(name, file);
    else if (isApiBinary(name)) {
      throw new Error(
        `KUBEBUILDER_ASSETS is ${folder}, but there is no executable ${name} in it; put etcd and kube-apiserver there, or unset the variable`,
      );
    }
  }
}

function lookInCache({ found, missing, cache }: Search): void {
  for (const name of missing()) {
    const file = join(cache, name);
    if (isExecutable(file)) found.set(name, file);
  }
}

async function fetchOrBuild(search: Search): Promise<void> {
  const { cache, report, signal } = search;
  let waiting: ReturnType<typeof beginStep> | undefined;
  const work = async () => {
    lookInCache(search);
    await tryDownload(search);
    await tryBuild(search);
  };
  await withLock(join(cache, '.lock'), work, {
    signal,
    waiting(pid) {
      waiting ??= beginStep(report, 'waiting for another process that gets the same binaries');
      waiting(`process ${pid}`);
    },
  });
  if (search.missing().length > 0) throw new Error(explain(search));
}

async function tryDownload(search: Search): Promise<void> {
  const { cache, env, report, signal, reasons } = search;
  const wanted = search.missing().filter(isApiBinary);
  if (wanted.length === 0) return;
  try {
    await fillCache(cache, wanted, (folder) => downloadEnvtest({ folder, env, report, signal }));
    lookInCache(search);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ChecksumError) throw error;
    reasons.push(`download: ${messageOf(error)}`);
  }
}

async function tryBuild(search: Search): Promise<void> {
  const { cache, env, report, signal, reasons } = search;
  const names = search.missing();
  if (names.length === 0) return;
  if (!hasGo(env)) {
    reasons.push('build: there is no go command on the PATH');
    return;
  }
  try {
    await fillCache(cache, names, (folder) => buildWithGo({ names, folder, env, report, signal }));
    lookInCache(search);
  } catch (error) {
    signal?.throwIfAborted();
    reasons.push(`build: ${messageOf(error)}`);
  }
}

function hasGo(env: NodeJS.ProcessEnv): boolean {
  return (env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder && isExecutable(join(folder, 'go')));
}

function explain({ missing, reasons }: Search): string {
  const names = missing();
  const downloadable = names.every(isApiBinary);
  return [
    `no ${names.join(', ')} for a local Kubernetes ${kubernetesVersion}:`,
    ...reasons.map((reason) => `  ${reason}`),
    'one of these helps:',
    `  - set KUBEBUILDER_ASSETS to a folder that holds ${names.join(' and ')}`,
    downloadable
      ? '  - run once with internet access: a release archive from github.com is downloaded'
      : '  - run once with internet access: etcd and kube-apiserver are downloaded from github.com, modules for the others by Go',
    '  - install Go 1.26 or newer: they are built from the Go module proxy',
  ].join('\n');
}

function isApiBinary(name: BinaryName): boolean {
  return (apiBinaries as readonly BinaryName[]).includes(name);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
