import type { Clock } from '../../runtime/clock.ts';
import { createRetry } from './retry.ts';
import type { ItemKey, Partition } from './table.ts';

export interface CountOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Enough is known once there are more than this. Default: count all. */
  readonly limit?: number | undefined;
  /** Between 0 and 1. Default: Math.random. */
  readonly random?: () => number;
}

export interface PartitionCount {
  readonly count: number;
  /** False if the limit or the signal ended the count: then `count` means "at least". */
  readonly complete: boolean;
  readonly readUnits: number;
}

/** Counts the items of a partition. Reading costs the same as reading the items. */
export async function countPartition(
  partition: Partition,
  { clock, signal, limit = Infinity, random }: CountOptions,
): Promise<PartitionCount> {
  const retry = createRetry({ clock, random });
  let count = 0;
  let readUnits = 0;
  let after: ItemKey | undefined;
  try {
    do {
      signal.throwIfAborted();
      // One more than the limit is all there is to find out.
      const most = limit === Infinity ? undefined : limit + 1 - count;
      const query = { after, signal, limit: most, consistent: true };
      const page = await retry.call(
        () => partition.count(query),
        () => signal,
      );
      count += page.count;
      readUnits += page.readUnits;
      after = page.next;
    } while (after !== undefined && count <= limit);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { count, complete: false, readUnits };
  }
  return { count, complete: after === undefined, readUnits };
}
