import { join } from 'node:path';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import { pythonEnvironment, pythonMissing } from '../../local/python/environment.ts';
import { installPeers } from './install.ts';
import type { PeerCommand } from './open.ts';

export type PeerName =
  | 'podless'
  | 'raw writer'
  | 'key reader'
  | 'SDK, one batch'
  | 'dynamodb-toolbox'
  | 'boto3'
  | 'electrodb';

export interface Peer {
  readonly name: PeerName;
  /** For the results page. */
  readonly about: string;
  /** Whether it reads the partition by itself, page by page, as it deletes it. */
  readonly deletesPartitions: boolean;
  /** Gets it onto this machine. Throws, with the reason, where that cannot be done. */
  command(): Promise<PeerCommand>;
}

const script = (name: string): string => join(import.meta.dirname, name);
const node = (name: string, ...flags: readonly string[]): PeerCommand => ({
  command: process.execPath,
  args: [...flags, script(name)],
});

export const podless: Peer = {
  name: 'podless',
  about: 'the engine of DdbctlDpJob, as the function calls it; it is told nothing of the cap',
  deletesPartitions: true,
  command: async () => node('podless.ts'),
};

const { memoryMegabytes } = ddbctldpjob;

/**
 * With the heap that the function has on Lambda, whose Node is started with these shares of the function's memory. Left to
 * itself, V8 lets garbage pile up by the size of the machine.
 */
export const podlessOnLambda: Peer = {
  ...podless,
  command: async () =>
    node(
      'podless.ts',
      `--max-semi-space-size=${Math.floor(memoryMegabytes * 0.05)}`,
      `--max-old-space-size=${Math.floor(memoryMegabytes * 0.9)}`,
    ),
};

/** Not a peer: it deletes nothing. */
export const keyReader: Peer = {
  name: 'key reader',
  about: 'AWS SDK v3, reads every key: what reading costs this server',
  deletesPartitions: false,
  command: async () => node('reader.ts'),
};

export const raw: Peer = {
  name: 'raw writer',
  about: 'AWS SDK v3, knows every key, as many batches in flight as podless: the ceiling',
  deletesPartitions: false,
  command: async () => node('raw.ts'),
};

export const sdkOne: Peer = {
  name: 'SDK, one batch',
  about:
    'AWS SDK v3, page by page, one batch in flight, a wait that doubles for what is unprocessed',
  deletesPartitions: true,
  command: async () => node('sdk-1.ts'),
};

export const toolbox: Peer = {
  name: 'dynamodb-toolbox',
  about: '`DeletePartitionCommand`',
  deletesPartitions: true,
  command: async () => {
    await installPeers();
    return node('dynamodb-toolbox.ts');
  },
};

export const boto3: Peer = {
  name: 'boto3',
  about: '`batch_writer` over pages of keys',
  deletesPartitions: true,
  command: async () => {
    if (pythonMissing !== undefined) throw new Error(pythonMissing);
    const python = join(await pythonEnvironment(), 'python');
    return { command: python, args: [script('boto3_batch_writer.py')] };
  },
};

export const electrodb: Peer = {
  name: 'electrodb',
  about:
    'batch delete with `concurrent` as large as the number that podless has in flight; it takes keys, so it reads them all first by its own query',
  deletesPartitions: false,
  command: async () => {
    await installPeers();
    return node('electrodb.ts');
  },
};

/** All but podless and the ceiling. */
export const competitors: readonly Peer[] = [sdkOne, toolbox, boto3, electrodb];
