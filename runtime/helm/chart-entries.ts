import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { OperatorError } from '../errors.ts';
import { tooLarge, unpackedLimits } from './chart-files.ts';
import { invalidChart, quoted } from './chart-path.ts';

/** With the headers and padding of the tar format itself, which are in no file. */
const MAX_TAR_BYTES = unpackedLimits.bytes + 10 * 1024 * 1024;

/** A file, folder or whatever else a tar file can hold. */
export interface Entry {
  readonly header: Header;
  /** Its content. */
  read(): Promise<Uint8Array>;
}

/**
 * Calls `take` for each entry of a tar.gz file, one after the other, while it is being unpacked. Throws InvalidChart if the
 * file is cut short, corrupt, or grows too large.
 */
export async function readEntries(
  bytes: Uint8Array,
  take: (entry: Entry) => Promise<void>,
): Promise<void> {
  const entries = extract();
  const unpacked = pipeline([bytes], createGunzip(), bounded, entries);
  // It is waited for below; until then its failure must not count as one that nobody sees.
  unpacked.catch(() => undefined);
  try {
    for await (const entry of entries) {
      await take({ header: entry.header, read: () => buffer(entry) });
      entry.resume();
    }
    await unpacked;
  } catch (error) {
    entries.destroy();
    await unpacked.catch(() => undefined);
    if (error instanceof OperatorError || isOurTrouble(error)) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    throw invalidChart(`must be a whole tar.gz file, got one that is not (${quoted(problem)})`);
  }
}

/** Ends a bomb while it goes off. */
async function* bounded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > MAX_TAR_BYTES) throw tooLarge();
    yield chunk;
  }
}

/** A disk that is full says nothing about the archive. */
const isOurTrouble = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof error.syscall === 'string';
