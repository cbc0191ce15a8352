import { join } from 'node:path';
import { operators } from '../../functions/operators.ts';
import { bundle, bundleNamesOf } from '../../infra/bundle.ts';

/** A function's code as it is deployed, on disk. */
export interface BundleOnDisk {
  readonly name: string;
  readonly bytes: number;
  readonly file: string;
}

export const EMPTY = 'empty handler';
export const CLIENT_ONLY = 'client-dynamodb only';

const entry = (name: string): string => join(import.meta.dirname, `${name}.ts`);

/** Every function of the project, and the two that they are measured against, all by the same settings. */
export async function bundlesUnder(folder: string): Promise<readonly BundleOnDisk[]> {
  const wanted = [
    { title: EMPTY, name: 'empty', entry: entry('empty-handler') },
    { title: CLIENT_ONLY, name: 'client-only', entry: entry('dynamodb-handler') },
    ...bundleNamesOf(operators).map((name) => ({ title: name, name })),
  ];
  const bundles: BundleOnDisk[] = [];
  for (const { title, ...options } of wanted) {
    const { bytes } = await bundle({ ...options, folder });
    bundles.push({ name: title, bytes, file: join(folder, options.name, 'index.mjs') });
  }
  return bundles;
}
