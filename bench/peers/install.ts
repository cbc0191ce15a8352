import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const folder = join(import.meta.dirname, '..');
const lockFile = join(folder, 'package-lock.json');
const installed = join(folder, 'node_modules');
/** Holds the lock file that was installed, so that a change of it is noticed. */
const marker = join(installed, '.installed');

let installing: Promise<void> | undefined;

/** The peers of bench/package.json, by `npm ci` where that has not been done yet. */
export function installPeers(): Promise<void> {
  installing ??= install();
  return installing;
}

async function install(): Promise<void> {
  const lock = readFileSync(lockFile, 'utf8');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  try {
    await promisify(execFile)('npm', ['ci'], { cwd: folder });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`npm ci in bench/ failed: ${stderr?.trim().split('\n')[0] ?? String(error)}`);
  }
  mkdirSync(installed, { recursive: true });
  writeFileSync(marker, lock);
}
