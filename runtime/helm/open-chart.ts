import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { TransientError } from '../errors.ts';
import type { Chart } from './release.ts';

/** A chart that is part of the program: a folder, or a .tgz archive, which is unpacked for the life of the process. */
export async function openChart(path: string): Promise<Chart & { readonly folder: string }> {
  const found = await stat(path).catch(() => undefined);
  // It may come with the next deployment.
  if (!found) throw new TransientError('ChartNotFound', `there is no chart ${path}`);
  const folder = found.isDirectory() ? path : await unpacked(path);
  return { folder, digest: await digestOfFolder(folder) };
}

async function unpacked(archive: string): Promise<string> {
  const { unpackChart } = await import('./chart-archive.ts');
  const folder = join(await mkdtemp(join(tmpdir(), 'podless-chart-')), 'chart');
  await unpackChart(await readFile(archive), folder);
  return folder;
}

/** Of the paths and contents of all its files. */
async function digestOfFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const hash = createHash('sha256');
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${JSON.stringify(relative(folder, file))} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}
