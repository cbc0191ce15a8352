import { mkdir, rm } from 'node:fs/promises';
import { type Entry, readEntries } from './chart-entries.ts';
import { type ChartFiles, createChartFiles } from './chart-files.ts';
import { invalidChart, partsOf, quoted } from './chart-path.ts';

export const MAX_PACKED_BYTES = 5 * 1024 * 1024;
/** Charts inside charts. */
const MAX_DEPTH = 5;

/**
 * Unpacks a chart archive (`.tgz`) into a folder, which must not exist yet; its Chart.yaml is then `<folder>/Chart.yaml`.
 * Archives of dependencies in `charts/` are unpacked too, so that Helm reads nothing but files that were checked here.
 * Throws a TerminalError `InvalidChart` and leaves nothing behind if the archive is not in order.
 */
export async function unpackChart(bytes: Uint8Array, folder: string): Promise<void> {
  await mkdir(folder);
  try {
    await unpackInto(createChartFiles(folder), [], bytes);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    // A disk may take for the same what we took for two names: capital letters, accents.
    const sameName = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw sameName ? invalidChart('must hold each path once, got two in other letters') : error;
  }
}

/** @param base where in the chart: of a dependency `charts/<its name>` */
async function unpackInto(
  files: ChartFiles,
  base: readonly string[],
  bytes: Uint8Array,
): Promise<void> {
  if (bytes.length > MAX_PACKED_BYTES) {
    throw invalidChart(`must have at most 5 MB packed, got ${bytes.length} bytes`);
  }
  let root: string | undefined;
  await readEntries(bytes, async (entry) => {
    const { name } = entry.header;
    const [first, ...rest] = partsOf(name);
    if (first === undefined) return;
    root ??= first;
    if (first !== root) throw invalidChart(`must hold one folder, got ${quoted(name)} beside it`);
    const path = [...base, ...rest];
    if (isFolder(entry)) await files.makeFolder(path);
    else if (rest.length === 0) throw invalidChart(`must hold a folder, got ${quoted(name)}`);
    else await unpackFile(files, path, entry);
  });
  if (!files.hasFile([...base, 'Chart.yaml'])) {
    throw invalidChart('must hold <name>/Chart.yaml, which is not there');
  }
}

/** Old tar programs mark a folder by the slash alone. */
const isFolder = ({ header: { type, name, size } }: Entry): boolean =>
  type === 'directory' || (type === 'file' && size === 0 && name.endsWith('/'));

async function unpackFile(files: ChartFiles, path: readonly string[], entry: Entry): Promise<void> {
  const { name, type, size } = entry.header;
  if (type !== 'file') {
    const got = `${quoted(name)} (${type ?? 'of an unknown type'})`;
    throw invalidChart(`must hold only files and folders, got ${got}`);
  }
  files.reserve(path, size);
  const content = await entry.read();
  const nested = nestedChart(path);
  if (!nested) return files.write(path, content);
  if (nested.length > 2 * MAX_DEPTH) {
    throw invalidChart(`must nest charts at most ${MAX_DEPTH} deep, got ${quoted(name)}`);
  }
  await files.makeFolder(nested);
  await unpackInto(files, nested, content);
}

/** Where Helm would look into an archive: `charts/a-1.0.0.tgz`, also of a dependency. */
function nestedChart(path: readonly string[]): readonly string[] | undefined {
  const isArchive =
    path.length % 2 === 0 && path.every((part, i) => i % 2 === 1 || part === 'charts');
  const last = path.at(-1) ?? '';
  return isArchive && last.endsWith('.tgz') ? [...path.slice(0, -1), last.slice(0, -4)] : undefined;
}
