import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { motoMissing, startMoto } from '../helpers/moto.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** moto, one for each worker; none where it cannot run, and nothing is deployed. */
    readonly motoUrls: readonly string[];
    /** What was synthesized, for all files. */
    readonly synthesizedFolder: string;
  }
}

/** As many files run at once. */
const WORKERS = 3;

/** Once for all files of the project. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'podless-deployed-'));
  const count = motoMissing === undefined ? WORKERS : 0;
  const motos = await Promise.all(Array.from({ length: count }, () => startMoto()));
  const urls = motos.map(({ url }) => url);
  project.provide('motoUrls', urls);
  project.provide('synthesizedFolder', folder);
  return async () => {
    await Promise.all(motos.map((moto) => moto.stop()));
    await rm(folder, { recursive: true, force: true });
  };
}
