import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userCacheFolder } from '../control-plane/cache.ts';
import { spawnChild } from '../control-plane/child.ts';
import { withLock } from '../control-plane/lock.ts';
import { isInstalled } from '../installed.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** Why moto and cfn-lint cannot run on this machine, or undefined if they can. */
export const pythonMissing = isInstalled('python3') ? undefined : 'python3 is not installed';

/**
 * The `bin` folder of a virtual environment in the user's cache with moto and cfn-lint, made by pip the first time
 * (350 MB). Its name holds the versions, and a marker is written last: what has one is complete.
 */
export async function pythonEnvironment(): Promise<string> {
  const text = readFileSync(requirements, 'utf8');
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12);
  // A virtual environment knows its own path, so it cannot be built elsewhere and moved into place.
  const folder = join(userCacheFolder(), 'podless', `python-${version}`);
  const complete = join(folder, 'complete');
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(complete)) return;
    rmSync(folder, { recursive: true, force: true });
    await runToEnd('python3', ['-m', 'venv', folder], `${folder}.log`);
    const pip = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await runToEnd(join(folder, 'bin', 'pip'), pip, `${folder}.log`);
    writeFileSync(complete, '');
  });
  return join(folder, 'bin');
}

async function runToEnd(command: string, args: readonly string[], logFile: string): Promise<void> {
  const child = await spawnChild({ name: command, command, args, logFile });
  const end = await child.exited;
  if (end !== 'exit code 0') throw new Error(`${command} failed (${end}):\n${child.logTail()}`);
}
