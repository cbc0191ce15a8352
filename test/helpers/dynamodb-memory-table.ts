import {
  type BatchReply,
  type ItemKey,
  type KeyPage,
  type PageQuery,
  type Partition,
  TableFault,
} from '../../functions/ddbctldpjob/table.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { OperatorError } from '../../runtime/errors.ts';

/** Shares of the calls, between 0 and 1. */
export interface MemoryFaults {
  /** Of the keys of a batch, not of the batches. */
  readonly unprocessed?: number;
  readonly throttle?: number;
  /** The call had no effect, but nobody can know. */
  readonly serverError?: number;
  /** The call was carried out and the reply lost. */
  readonly lostReply?: number;
  /** Never answered; it times out after three seconds and may have been carried out. */
  readonly hang?: number;
  /** Every delete is refused for good. */
  readonly refusal?: OperatorError;
}

export interface MemoryPartitionOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly pageSize: number;
  readonly latencyMs?: number;
  readonly writeUnitsPerKey?: number;
}

export interface DeleteCall {
  readonly at: number;
  readonly keys: readonly string[];
}

/** A partition in memory that misbehaves on request, and remembers what was asked of it. */
export interface MemoryPartition extends Partition {
  readonly items: Set<string>;
  faults: MemoryFaults;
  readonly deleteCalls: DeleteCall[];
  readonly seen: {
    pageReads: number;
    maxDeletesInFlight: number;
    /** Keys handed out in pages and not yet acknowledged as deleted. */
    maxKeysHeld: number;
  };
}

const TIMEOUT_MS = 3_000;
const sortKey = (name: string): ItemKey => ({ S: name });
const nameOf = (key: ItemKey): string => ('S' in key ? key.S : '');

export function createMemoryPartition(
  names: Iterable<string>,
  options: MemoryPartitionOptions,
): MemoryPartition {
  const { clock, random, pageSize, latencyMs = 5, writeUnitsPerKey = 1 } = options;
  const items = new Set(names);
  const seen = { pageReads: 0, maxDeletesInFlight: 0, maxKeysHeld: 0 };
  let keysHeld = 0;
  let inFlight = 0;

  const latency = (signal: AbortSignal) => clock.sleep(random() * latencyMs, signal);
  const happens = (share = 0): boolean => random() < share;

  /** Waits, fails where it should, and otherwise makes `change` happen and answers with what it returns. */
  async function carryOut<T>(signal: AbortSignal, change: () => T): Promise<T> {
    const { throttle, serverError, lostReply, hang } = partition.faults;
    await latency(signal);
    if (happens(throttle)) throw new TableFault('throttled', 'slow down', false);
    if (happens(serverError)) throw new TableFault('serverError', 'internal error', true);
    if (happens(hang)) {
      if (happens(0.5)) change();
      await clock.sleep(TIMEOUT_MS, signal);
      throw new TableFault('unreachable', 'timed out', true);
    }
    const reply = change();
    await latency(signal);
    if (happens(lostReply)) throw new TableFault('unreachable', 'connection reset', true);
    return reply;
  }

  const range = (query: PageQuery): { names: string[]; more: boolean } => {
    const { after, upTo, limit = Infinity, backward = false } = query;
    const isInRange = (name: string) =>
      (after === undefined || name > nameOf(after)) && (upTo === undefined || name <= nameOf(upTo));
    const rest = [...items].filter(isInRange).sort();
    if (backward) rest.reverse();
    const names = rest.slice(0, Math.min(pageSize, limit));
    return { names, more: rest.length > names.length };
  };
  const position = (query: PageQuery, names: readonly string[], more: boolean) => ({
    // A unit pays for 4 KB read consistently, 8 KB read otherwise, or 1 KB written.
    readUnits: Math.max(1, (names.length * writeUnitsPerKey) / 4) / (query.consistent ? 1 : 2),
    ...(more && { next: sortKey(names.at(-1) ?? '') }),
  });

  const partition: MemoryPartition = {
    items,
    seen,
    faults: {},
    deleteCalls: [],
    async page(query): Promise<KeyPage> {
      seen.pageReads += 1;
      const { names, more } = await carryOut(query.signal, () => range(query));
      keysHeld += names.length;
      seen.maxKeysHeld = Math.max(seen.maxKeysHeld, keysHeld);
      return { keys: names.map(sortKey), ...position(query, names, more) };
    },
    async count(query) {
      const { names, more } = await carryOut(query.signal, () => range(query));
      return { count: names.length, ...position(query, names, more) };
    },
    async deleteKeys(keys, signal): Promise<BatchReply> {
      const batch = keys.map(nameOf);
      if (batch.length > 25 || batch.length === 0 || new Set(batch).size < batch.length) {
        throw new TypeError(`bad batch of ${batch.length} keys, ${new Set(batch).size} different`);
      }
      partition.deleteCalls.push({ at: clock.now(), keys: batch });
      inFlight += 1;
      seen.maxDeletesInFlight = Math.max(seen.maxDeletesInFlight, inFlight);
      try {
        return await carryOut(signal, () => {
          if (partition.faults.refusal) throw partition.faults.refusal;
          const left = batch.filter(() => happens(partition.faults.unprocessed));
          const done = batch.filter((name) => !left.includes(name));
          for (const name of done) items.delete(name);
          return { unprocessed: left.map(sortKey), writeUnits: done.length * writeUnitsPerKey };
        }).then((reply) => {
          keysHeld -= batch.length - reply.unprocessed.length;
          return reply;
        });
      } finally {
        inFlight -= 1;
      }
    },
  };
  return partition;
}

/** `prefix0001`, `prefix0002`, ... */
export const itemNames = (count: number, prefix = 'item'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(6, '0')}`);
