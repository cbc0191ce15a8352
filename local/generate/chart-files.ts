import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** The files of a chart that tell what its values are. */
export interface ChartFiles {
  readonly valuesSchema?: string;
  readonly values?: string;
}

const names = { 'values.schema.json': 'valuesSchema', 'values.yaml': 'values' } as const;

/** @param path of a folder or a .tgz archive */
export const readChartFiles = (path: string): Promise<ChartFiles> =>
  statSync(path).isDirectory() ? Promise.resolve(fromFolder(path)) : fromArchive(path);

function fromFolder(folder: string): ChartFiles {
  const found = Object.entries(names).filter(([name]) => existsSync(join(folder, name)));
  return Object.fromEntries(
    found.map(([name, field]) => [field, readFileSync(join(folder, name), 'utf8')]),
  );
}

async function fromArchive(archive: string): Promise<ChartFiles> {
  const files: Record<string, string> = {};
  const unpacked = extract();
  const reading = pipeline(createReadStream(archive), createGunzip(), unpacked);
  const collecting = (async () => {
    for await (const entry of unpacked) {
      const path = entry.header.name.replace(/^\.\//, '');
      const name = basename(path);
      const field = path.split('/').length === 2 && isWanted(name) ? names[name] : undefined;
      if (field) files[field] = await text(entry);
      else entry.resume();
    }
  })();
  await Promise.all([reading, collecting]).catch((error: Error) => {
    throw new Error(`${archive} must be a gzipped tar archive: ${error.message}`, { cause: error });
  });
  return files;
}

const isWanted = (name: string): name is keyof typeof names => Object.hasOwn(names, name);
