import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { environmentNames } from '../../runtime/aws/environment.ts';
import type { Environment } from '../../runtime/aws/environment-reader.ts';

/**
 * The folder that has `charts/`: the first above the running code. That is the root of the project, or on Lambda the folder of
 * the bundle.
 */
export function findChartRoot(
  environment: Environment,
  from: string = import.meta.dirname,
): string {
  const given = environment[environmentNames.charts];
  if (given !== undefined && given !== '') return given;
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'charts'))) return folder;
    if (folder === dirname(folder))
      throw new Error(`a folder charts must be beside the code or above it, got none from ${from}`);
  }
}
