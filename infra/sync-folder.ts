import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/**
 * Makes a folder hold exactly these files, which may be in folders of their own. One that is right already is not touched,
 * and a new one appears complete: two builds of the same sources may run at once, and a reader never sees half of one.
 */
export function syncFolder(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, contents] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeIfChanged(path, contents, dirname(folder));
  }
  const kept = new Set([...files.keys()].flatMap(withParents));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** `a/b/c`, `a/b` and `a`. */
const withParents = (path: string): readonly string[] => {
  const parts = path.split(sep);
  return parts.map((_, index) => parts.slice(0, index + 1).join(sep));
};

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
