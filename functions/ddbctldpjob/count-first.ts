import { toTimestamp } from '../../runtime/clock.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import type { ReconcileContext, Result } from '../../runtime/reconcile.ts';
import { countPartition } from './count-partition.ts';
import type { JobSpec, JobStatus } from './spec.ts';
import { completed, heldBack } from './status.ts';
import type { Partition } from './table.ts';

/** Throws if there are more items than the spec allows. */
export async function refuseTooMany(
  partition: Partition,
  { maxItems, target }: JobSpec,
  context: ReconcileContext,
) {
  if (maxItems === undefined) return;
  const { clock, signal } = context;
  const { count, complete } = await countPartition(partition, { clock, signal, limit: maxItems });
  const where = `partition "${target.partitionValue}" of table "${target.tableName}"`;
  if (count > maxItems) {
    throw new TerminalError(
      'TooManyItems',
      `${where} holds more than spec.maxItems = ${maxItems} items; nothing was deleted`,
    );
  }
  if (!complete)
    throw new TransientError(
      'CountIncomplete',
      `${where} could not be counted in the time of one run`,
    );
}

interface CountedJob {
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

/** Counts instead of deleting, and says what a run that deletes would do. */
export async function dryRun(
  partition: Partition,
  { spec, status }: CountedJob,
  context: ReconcileContext,
): Promise<Result> {
  const { clock, signal } = context;
  const startTime = toTimestamp(clock.now());
  const { count, complete, readUnits } = await countPartition(partition, { clock, signal });
  const found = `${complete ? '' : 'at least '}${count} ${count === 1 ? 'item' : 'items'}`;
  const { tableName, partitionValue } = spec.target;
  const held = count === 0 ? '' : heldBack(count, spec, status);
  const now = clock.now();
  const counted = { ...status, startTime, matchedItems: count, consumedReadUnits: readUnits };
  return {
    ...completed(counted, `dry run: ${found} would be deleted`, { spec, now }),
    plan: [
      {
        action: count === 0 || held !== '' ? 'none' : 'delete',
        subject: `items of partition "${partitionValue}" of table "${tableName}"`,
        detail: found + held,
      },
    ],
  };
}
