import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { whenParentDies } from './parent-guard.ts';

/** Where one control plane keeps its data, keys and logs. */
export interface PlaneFolder {
  readonly path: string;
  file(name: string): string;
  /** Writes a file that only this user may read. */
  write(name: string, text: string): string;
  /** Removes the folder if it was ours alone; one that the caller named stays, with its data. */
  remove(): Promise<void>;
}

export function openPlaneFolder(given: string | undefined): PlaneFolder {
  const path = given === undefined ? mkdtempSync(join(tmpdir(), 'podless-')) : resolve(given);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // The second gives the processes in it time to die first, or they would write new files.
  const guard = given === undefined ? whenParentDies('sleep 1; rm -rf "$1"', [path]) : undefined;
  const file = (name: string) => join(path, name);
  return {
    path,
    file,
    write(name, text) {
      writeFileSync(file(name), text, { mode: 0o600 });
      return file(name);
    },
    async remove() {
      await guard?.release();
      if (given === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}

/**
 * The key that signs service account tokens; kept if the folder has one, as stored tokens depend on
 * it.
 */
export function serviceAccountKey(folder: PlaneFolder): string {
  const file = folder.file('service-account.key');
  if (existsSync(file)) return file;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return folder.write(
    'service-account.key',
    privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  );
}
