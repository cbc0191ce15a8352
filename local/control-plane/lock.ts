import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './is-alive.ts';

export interface LockOptions {
  /** Called about once a second while another process has the lock. */
  readonly waiting?: (holderPid: number) => void;
  readonly signal?: AbortSignal | undefined;
}

const heartbeatMs = 5_000;
const staleMs = 60_000;

/**
 * Runs `work` while this process holds the lock file. A lock whose process is dead, or has not
 * touched it for a minute (its id may belong to another program now), is taken over. Two waiters
 * may take over at the same moment: so the lock only saves work, and what it protects must be safe
 * to do twice.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  { waiting, signal }: LockOptions = {},
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  while (!tryLock(file)) {
    signal?.throwIfAborted();
    const holder = liveHolder(file);
    if (holder === undefined) {
      rmSync(file, { force: true });
      continue;
    }
    waiting?.(holder);
    await delay(1_000, undefined, signal ? { signal } : {});
  }
  const heartbeat = setInterval(() => touch(file), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    rmSync(file, { force: true });
  }
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function liveHolder(file: string): number | undefined {
  try {
    const age = Date.now() - statSync(file).mtimeMs;
    const pid = Number(readFileSync(file, 'utf8'));
    if (age > staleMs) return undefined;
    // Empty: created, but not yet written to.
    if (pid === 0) return age < 2_000 ? 0 : undefined;
    return isAlive(pid) ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function touch(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Taken over by someone who thought us dead (a laptop that slept): the work is safe to do
    // twice.
  }
}
