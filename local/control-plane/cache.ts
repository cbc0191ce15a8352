import { accessSync, constants, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { whenParentDies } from './parent-guard.ts';
import { currentPlatform, kubernetesVersion } from './versions.ts';

/** The folder for what can be fetched again: `$XDG_CACHE_HOME`, or the usual one of the system. */
export function userCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME;
  const home = env.HOME || homedir();
  return process.platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
}

export function binaryCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { os, arch } = currentPlatform();
  return join(
    userCacheFolder(env),
    'podless',
    'control-plane',
    `${kubernetesVersion}-${os}-${arch}`,
  );
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Gives `fill` an empty folder inside the cache and moves the named files from it into place one by
 * one. A file with its final name is therefore always complete, whenever and however a process
 * ends.
 */
export async function fillCache(
  folder: string,
  names: readonly string[],
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(folder, `.partial-${process.pid}-${Date.now()}`);
  mkdirSync(temporary, { recursive: true });
  const guard = whenParentDies('sleep 1; rm -rf "$1"', [temporary]);
  try {
    await fill(temporary);
    for (const name of names) {
      const file = join(temporary, name);
      if (!isExecutable(file))
        throw new Error(`expected an executable file ${file}, but there is none`);
      renameSync(file, join(folder, name));
    }
  } finally {
    await guard.release();
    rmSync(temporary, { recursive: true, force: true });
  }
}
