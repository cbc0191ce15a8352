import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { TransientError } from '../errors.ts';
import { HELM_GUARD } from './helm-guard.ts';

/** One call of helm. */
export interface HelmCall {
  /** Paths in `files` are relative to the folder it runs in. */
  readonly args: readonly string[];
  /** Written to its private folder before, by relative path. Whatever is secret belongs here, not in `args`. */
  readonly files: ReadonlyMap<string, string>;
  /** It is told to stop after this time, and killed a little later. */
  readonly limitMilliseconds: number;
  /** Stops it early. */
  readonly signal?: AbortSignal;
}

export interface HelmAnswer {
  /** `limit`: it took too long, wrote too much, or was stopped by the signal. */
  readonly ended: 'ok' | 'failed' | 'limit';
  /** Of the process; null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs helm in a folder of its own that is gone afterwards, with nothing of our environment. */
export type Helm = (call: HelmCall) => Promise<HelmAnswer>;

export interface HelmOptions {
  /** Path of the program. */
  readonly path: string;
  /** Default 512. */
  readonly memoryMegabytes?: number;
}

const DEFAULT_MEMORY_MEGABYTES = 512;
/** Go collects its garbage harder from here on, before the hard limit ends it. */
const SOFT_MEMORY_SHARE = 0.8;
/** Between the request to stop, at which helm marks its release as failed, and the kill. */
const PATIENCE_MILLISECONDS = 2_000;
const MAX_STDOUT_BYTES = 8 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;

export function createHelm({
  path,
  memoryMegabytes = DEFAULT_MEMORY_MEGABYTES,
}: HelmOptions): Helm {
  return async (call) => {
    const folder = await mkdtemp(join(tmpdir(), 'podless-helm-'));
    try {
      await writeFiles(folder, call.files);
      const child = spawn(
        'sh',
        ['-c', HELM_GUARD, 'helm', String(memoryMegabytes * 1024), folder, path, ...call.args],
        { cwd: folder, env: environmentIn(folder, memoryMegabytes), detached: true, stdio: 'pipe' },
      );
      const answer = await answerOf(child, call);
      // The shell's own codes.
      if (answer.ended === 'failed' && (answer.code === 126 || answer.code === 127))
        throw new TransientError('HelmMissing', `there is no program helm at ${path}`);
      return answer;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

async function writeFiles(folder: string, files: HelmCall['files']): Promise<void> {
  for (const [path, content] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, content, { mode: 0o600 });
  }
}

/** All there is: no credentials, no proxies, no plugins, and a home that is empty. */
const environmentIn = (folder: string, memoryMegabytes: number): Record<string, string> => ({
  PATH: '/usr/bin:/bin',
  HOME: join(folder, 'home'),
  TMPDIR: folder,
  HELM_CACHE_HOME: join(folder, 'home', 'cache'),
  HELM_CONFIG_HOME: join(folder, 'home', 'config'),
  HELM_DATA_HOME: join(folder, 'home', 'data'),
  HELM_PLUGINS: join(folder, 'home', 'plugins'),
  HELM_DRIVER: 'secret',
  KUBECONFIG: join(folder, KUBECONFIG_FILE),
  GOMEMLIMIT: `${Math.floor(memoryMegabytes * SOFT_MEMORY_SHARE)}MiB`,
  GOMAXPROCS: '2',
});

/** Where a call that talks to the cluster has its credentials, among its `files`. */
export const KUBECONFIG_FILE = 'kubeconfig.json';

async function answerOf(
  child: ChildProcessWithoutNullStreams,
  { limitMilliseconds, signal }: HelmCall,
): Promise<HelmAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  // A guard that is gone does not read any more.
  child.stdin.on('error', () => {});
  let limited = false;
  let patience: NodeJS.Timeout | undefined;
  const stop = () => {
    limited = true;
    signalGroup(child, 'SIGTERM');
    patience ??= setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE_MILLISECONDS);
  };
  const stdout = collect(child.stdout, MAX_STDOUT_BYTES, stop);
  const stderr = collect(child.stderr, MAX_STDERR_BYTES, () => {});
  const timer = setTimeout(stop, Math.max(limitMilliseconds, 0));
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const code = await promise;
    const ended = code === 0 ? 'ok' : 'failed';
    return { ended: limited ? 'limit' : ended, code, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    clearTimeout(patience);
    signal?.removeEventListener('abort', stop);
  }
}

/** What a stream has written, up to `limit` bytes; `onFull` is called when there is more. */
function collect(stream: NodeJS.ReadableStream, limit: number, onFull: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes + chunk.length > limit) onFull();
    else chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** To helm and to the shell around it. */
function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of them are gone.
  }
}
