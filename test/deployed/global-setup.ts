import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { motoMissing, startMoto } from '../helpers/moto.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** moto, emptied at each deployment; '' where it cannot run, and nothing is deployed. */
    readonly motoUrl: string;
    /** What was synthesized, for all files. */
    readonly synthesizedFolder: string;
  }
}

/** Once for all files of the project: they run one after the other, so that they can share it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'podless-deployed-'));
  const moto = motoMissing === undefined ? await startMoto() : undefined;
  project.provide('motoUrl', moto?.url ?? '');
  project.provide('synthesizedFolder', folder);
  return async () => {
    await moto?.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
