import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Makes a folder hold exactly these files. One that is right already is not touched, and a new one appears complete: two
 * builds of the same sources may run at once, and a reader never sees half of one.
 */
export function syncFolder(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, contents] of files)
    writeIfChanged(join(folder, name), contents, dirname(folder));
  for (const name of readdirSync(folder)) {
    if (!files.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** @param draftFolder where it is written before it is renamed into place; default: the file's own folder */
export function writeIfChanged(
  path: string,
  contents: Uint8Array,
  draftFolder = dirname(path),
): void {
  if (readIfThere(path)?.equals(contents) === true) return;
  const draft = join(draftFolder, `${randomUUID()}.draft`);
  writeFileSync(draft, contents);
  renameSync(draft, path);
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
