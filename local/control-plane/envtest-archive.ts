import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { fetchWithin } from './fetch-within.ts';
import { beginStep, type Report, type StepReport } from './progress.ts';
import { apiBinaries, currentPlatform, kubernetesVersion } from './versions.ts';

/** Lists every archive with its SHA-512; the same file that `setup-envtest` reads. */
const releaseIndex =
  'https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml';

/** The archive is not what the index says it is: never a reason to just go on with another way. */
export class ChecksumError extends Error {
  override name = 'ChecksumError';
}

interface Archive {
  readonly version: string;
  readonly url: URL;
  readonly sha512: string;
}

interface ReleaseIndex {
  readonly releases?: Record<string, Record<string, { hash: string; selfLink: string }>>;
}

export interface EnvtestOptions {
  /** Where etcd and kube-apiserver are put. */
  readonly folder: string;
  /** `PODLESS_ENVTEST_URL` names another index file, for a mirror. */
  readonly env: NodeJS.ProcessEnv;
  readonly report?: Report | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function downloadEnvtest(options: EnvtestOptions): Promise<void> {
  const { folder, env, report, signal } = options;
  const update = beginStep(report, 'downloading etcd and kube-apiserver');
  const archive = await findArchive(env.PODLESS_ENVTEST_URL || releaseIndex, signal);
  const file = join(folder, 'envtest.tar.gz');
  const sha512 = await download(archive, file, update, signal);
  if (sha512 !== archive.sha512) {
    throw new ChecksumError(
      `${archive.url.href} has the SHA-512 ${sha512}, expected ${archive.sha512}; nothing was installed`,
    );
  }
  const members = apiBinaries.map((name) => `controller-tools/envtest/${name}`);
  await promisify(execFile)('tar', [
    '-xzf',
    file,
    '-C',
    folder,
    '--strip-components=2',
    ...members,
  ]);
}

async function findArchive(indexUrl: string, signal: AbortSignal | undefined): Promise<Archive> {
  // Short: on a machine without internet this is all the time that is lost.
  const response = await fetchWithin(4, indexUrl, signal);
  const index = parse(await response.text()) as ReleaseIndex | null;
  const { os, arch } = currentPlatform();
  const version = bestVersion(Object.keys(index?.releases ?? {}));
  const name = `envtest-${version}-${os}-${arch}.tar.gz`;
  const entry = version === undefined ? undefined : index?.releases?.[version]?.[name];
  if (version === undefined || !entry) {
    throw new Error(
      `${indexUrl} has no archive of Kubernetes ${kubernetesVersion} for ${os}-${arch}`,
    );
  }
  return { version, url: new URL(entry.selfLink, indexUrl), sha512: entry.hash };
}

/** Our own version, else the newest patch of the same minor: envtest leaves most patches out. */
function bestVersion(versions: readonly string[]): string | undefined {
  const own = `v${kubernetesVersion}`;
  if (versions.includes(own)) return own;
  const minor = `${own.slice(0, own.lastIndexOf('.'))}.`;
  const patch = (version: string) => Number(version.slice(minor.length));
  return versions
    .filter((version) => version.startsWith(minor) && Number.isInteger(patch(version)))
    .sort((a, b) => patch(b) - patch(a))[0];
}

async function download(
  archive: Archive,
  file: string,
  update: StepReport,
  signal: AbortSignal | undefined,
): Promise<string> {
  const response = await fetchWithin(20, archive.url.href, signal);
  if (!response.body) throw new Error(`${archive.url.href} answered without a body`);
  const total = Number(response.headers.get('content-length'));
  const hash = createHash('sha512');
  let received = 0;
  let reportedAt = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      received += chunk.length;
      if (performance.now() - reportedAt > 500) {
        reportedAt = performance.now();
        const amount = `${archive.version}, ${megabytes(received)}`;
        if (total > 0) update(`${amount} of ${megabytes(total)} MB`, received / total);
        else update(`${amount} MB`);
      }
      done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body), count, createWriteStream(file));
  return hash.digest('hex');
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
