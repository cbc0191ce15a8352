import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** Packs a chart's folder as `helm package --version` does; the same files always make the same bytes. */
export async function packChart(folder: string, version: string): Promise<Buffer> {
  const name = basename(folder);
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const packing = pack();
  for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()) {
    const path = relative(folder, file).replaceAll(sep, '/');
    const content = await readFile(file);
    const entry = { name: `${name}/${path}`, mode: 0o644, mtime: new Date(0) };
    packing.entry(entry, path === 'Chart.yaml' ? withVersion(content, version) : content);
  }
  packing.finalize();
  return gzipSync(await buffer(packing));
}

const withVersion = (chartYaml: Buffer, version: string): string =>
  chartYaml.toString('utf8').replace(/^version: .*$/m, `version: ${version}`);
