import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fields } from '../template/fields.ts';
import { fieldsOf } from '../template/fields.ts';
import type { Json } from '../template/json.ts';

/** Path of an asset, by the fields that name its key in the bucket it would be uploaded to. */
export type AssetOf = (location: Fields) => string;

/** @param folder that of the synthesized template */
export function readAssets(folder: string, stackName: string): AssetOf {
  const file = join(folder, `${stackName}.assets.json`);
  const { raw } = fieldsOf(JSON.parse(readFileSync(file, 'utf8')) as Json, file).fields('files');
  const paths = new Map(
    Object.values(raw).flatMap((json) => {
      const asset = fieldsOf(json, file);
      const { raw: destinations } = asset.fields('destinations');
      const path = join(folder, asset.fields('source').text('path'));
      return Object.values(destinations).map(
        (destination) => [fieldsOf(destination, file).text('objectKey'), path] as const,
      );
    }),
  );
  return (location) => {
    const key = location.text('S3Key');
    const path = paths.get(key);
    if (path === undefined) throw new Error(`${location.path}: no asset has the S3 key ${key}`);
    return path;
  };
}
