import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidChart, quoted } from './chart-path.ts';

const MEGABYTE = 1024 * 1024;

export const unpackedLimits = { bytes: 50 * MEGABYTE, files: 2_000, folders: 2_000 } as const;

/** The files of a chart, counted while they are written. */
export interface ChartFiles {
  /** Before its content is read. Throws if there would be too much, or if the path is taken. */
  reserve(path: readonly string[], bytes: number): void;
  /** The content of a reserved file. */
  write(path: readonly string[], content: Uint8Array): Promise<void>;
  makeFolder(path: readonly string[]): Promise<void>;
  hasFile(path: readonly string[]): boolean;
}

export const tooLarge = () => invalidChart('must have at most 50 MB unpacked, got more');

/** @param root an existing folder */
export function createChartFiles(root: string): ChartFiles {
  const files = new Set<string>();
  const folders = new Set<string>();
  let bytes = 0;

  const makeFolder = async (path: readonly string[]): Promise<void> => {
    const key = path.join('/');
    if (key === '' || folders.has(key)) return;
    if (files.has(key)) throw twice(key);
    folders.add(key);
    if (folders.size > unpackedLimits.folders) throw tooMany('folders');
    await makeFolder(path.slice(0, -1));
    await mkdir(join(root, ...path));
  };

  return {
    makeFolder,
    hasFile: (path) => files.has(path.join('/')),
    reserve: (path, size) => {
      const key = path.join('/');
      if (files.has(key) || folders.has(key)) throw twice(key);
      files.add(key);
      if (files.size > unpackedLimits.files) throw tooMany('files');
      bytes += size;
      if (bytes > unpackedLimits.bytes) throw tooLarge();
    },
    write: async (path, content) => {
      await makeFolder(path.slice(0, -1));
      await writeFile(join(root, ...path), content, { flag: 'wx' });
    },
  };
}

const tooMany = (what: 'files' | 'folders') =>
  invalidChart(`must hold at most ${unpackedLimits[what]} ${what}, got more`);

const twice = (path: string) => invalidChart(`must hold each path once, got ${quoted(path)} twice`);
