import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { userCacheFolder } from '../control-plane/cache.ts';
import { spawnChild } from '../control-plane/child.ts';
import { withLock } from '../control-plane/lock.ts';
import { beginStep, type Report } from '../control-plane/progress.ts';

const pom = fileURLToPath(new URL('./pom.xml', import.meta.url));

export interface JarOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly report?: Report | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The folder with DynamoDB Local's jars in the user's cache; Maven fetches them (51 MB) the first time. */
export async function dynamoDbLocalJars({ env, report, signal }: JarOptions): Promise<string> {
  const folder = cacheFolder(env);
  const jars = join(folder, 'lib');
  if (hasDynamoDbLocalJars(env)) return jars;
  const update = beginStep(report, 'fetching DynamoDB Local with Maven');
  const waiting = (pid: number) => update(`waiting for process ${pid}, which does the same`);
  const fetchOnce = async () => {
    if (!hasDynamoDbLocalJars(env)) await fetchJars(folder, { env, signal, update });
  };
  await withLock(join(folder, 'lock'), fetchOnce, { waiting, signal });
  return jars;
}

/** The folder appears under its name when it is complete, never before. */
export const hasDynamoDbLocalJars = (env: NodeJS.ProcessEnv): boolean =>
  existsSync(join(cacheFolder(env), 'lib'));

function cacheFolder(env: NodeJS.ProcessEnv): string {
  const version = /<artifactId>DynamoDBLocal<\/artifactId>\s*<version>([^<]+)</.exec(
    readFileSync(pom, 'utf8'),
  )?.[1];
  if (version === undefined) throw new Error(`${pom} names no version of DynamoDBLocal`);
  return join(userCacheFolder(env), 'podless', 'dynamodb-local', version);
}

interface FetchOptions extends JarOptions {
  readonly update: (detail: string) => void;
}

async function fetchJars(folder: string, { env, signal, update }: FetchOptions): Promise<void> {
  const partial = join(folder, `.partial-${process.pid}`);
  const lib = join(partial, 'lib');
  mkdirSync(lib, { recursive: true });
  // Maven writes next to the pom it reads: not into our sources.
  copyFileSync(pom, join(partial, 'pom.xml'));
  const maven = await spawnChild({
    name: 'Maven',
    command: 'mvn',
    args: ['-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'],
    cwd: partial,
    logFile: join(folder, 'maven.log'),
    env,
  });
  const stop = () => void maven.stop();
  signal?.addEventListener('abort', stop, { once: true });
  const watching = setInterval(() => update(newestFile(maven.logTail(1))), 1_000);
  try {
    const end = await maven.exited;
    signal?.throwIfAborted();
    if (end !== 'exit code 0') {
      throw new Error(`Maven could not fetch DynamoDB Local (${end}):\n${maven.logTail()}`);
    }
    renameSync(lib, join(folder, 'lib'));
  } finally {
    clearInterval(watching);
    signal?.removeEventListener('abort', stop);
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Of Maven's `Downloaded from central: https://.../a-1.0.jar (12 kB at 3 kB/s)` only `a-1.0.jar`. */
const newestFile = (line: string): string => /[^/\s]+\.(?:jar|pom)\b/.exec(line)?.[0] ?? 'copying';
