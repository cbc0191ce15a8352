import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** An entry of an archive: a file by its content, or anything else by its header. */
export type ArchiveEntry = readonly [name: string, content: string | Buffer | Partial<Header>];

/** A tar file with these entries, in this order; nothing is checked. */
export async function tarOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const packing = pack();
  for (const [name, content] of entries) {
    if (typeof content === 'string' || Buffer.isBuffer(content)) packing.entry({ name }, content);
    else packing.entry({ name, size: 0, ...content }, '');
  }
  packing.finalize();
  return buffer(packing);
}

export const archiveOf = async (entries: readonly ArchiveEntry[]): Promise<Buffer> =>
  gzipSync(await tarOf(entries));

/** The least that a chart holds. */
export const chartYaml = (name = 'sample'): ArchiveEntry => [
  `${name}/Chart.yaml`,
  `apiVersion: v2\nname: ${name}\nversion: 0.0.1\n`,
];

const HEADER_BYTES = 512;
const SUM_OFFSET = 148;

/** Changes the header of the first entry of a tar file, and makes its checksum right again. */
export function withHeader(tar: Buffer, change: (header: Buffer) => void): Buffer {
  const changed = Buffer.from(tar);
  const header = changed.subarray(0, HEADER_BYTES);
  change(header);
  header.fill(' ', SUM_OFFSET, SUM_OFFSET + 8);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, SUM_OFFSET);
  return changed;
}
