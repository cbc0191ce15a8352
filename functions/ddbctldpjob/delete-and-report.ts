import { toTimestamp } from '../../runtime/clock.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { describeError } from '../../runtime/log.ts';
import { classify } from '../../runtime/outcome.ts';
import type { ReconcileContext, Result, Verdict } from '../../runtime/reconcile.ts';
import { deletePartition } from './delete-partition.ts';
import type { JobSpec, JobStatus } from './spec.ts';
import { addProgress, completed, inPhase, itemsDeleted, unchanged, withoutRun } from './status.ts';
import type { Partition } from './table.ts';

/** The share of the wind-up time for batches under way; the rest is for storing the status. */
const GRACE_SHARE = 0.6;
/** Reports in a row that may be missed while the API server is away, half a minute or so: nobody can stop the work then. */
const MAX_MISSED_REPORTS = 3;

interface Job {
  readonly object: KubeObject;
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

/** Claims the object, deletes until the partition is empty or the time is over, and tells how far it came. */
export async function deleteAndReport(
  partition: Partition,
  { object, spec, status }: Job,
  context: ReconcileContext,
): Promise<Result> {
  const { clock, signal, runId: id } = context;
  const run = { id, until: toTimestamp(context.deadline + 999) };
  const start = { startTime: toTimestamp(clock.now()), ...status, run };
  const report = (current: JobStatus) => context.checkpoint(deleting(current));

  const claim = await report(start);
  if (!claim.goOn) return unchanged(object);
  let stopped = '';
  const patiently = tolerateOutages(context);
  const result = await deletePartition(partition, {
    clock,
    signal,
    graceMs: context.windUpMilliseconds * GRACE_SHARE,
    continued: status.startTime !== undefined,
    maxWriteUnitsPerSecond: spec.maxWriteUnitsPerSecond,
    onProgress: async (progress) => {
      const verdict = await patiently(() => report(addProgress(start, progress)));
      if (!verdict.goOn) stopped = verdict.why;
      return verdict.goOn;
    },
  });
  const reached = addProgress(
    result.exact ? start : { ...start, deletedItemsExact: false },
    result,
  );
  context.log.info('partition pass finished', { ...result, stopped });
  if (result.failure) {
    await report(withoutRun(reached));
    throw result.failure;
  }
  return conclude(withoutRun(reached), {
    finished: result.finished,
    stopped,
    spec,
    now: clock.now(),
  });
}

/** A report that does not get through is made up for by the next one, which tells as much. */
function tolerateOutages({ log }: ReconcileContext) {
  let missed = 0;
  return async (report: () => Promise<Verdict>): Promise<Verdict> => {
    try {
      const verdict = await report();
      missed = 0;
      return verdict;
    } catch (error) {
      missed += 1;
      if (classify(error) !== 'retry' || missed > MAX_MISSED_REPORTS) throw error;
      log.info('progress not reported', { missed, ...describeError(error) });
      return { goOn: true };
    }
  };
}

function deleting(status: JobStatus) {
  const { throttledBy } = status;
  const heldBack = throttledBy === undefined ? '' : `; held back by ${throttledBy}`;
  return inPhase('Deleting', status, `deleting; ${itemsDeleted(status)} so far${heldBack}`);
}

interface Conclusion {
  readonly finished: boolean;
  /** Why it was stopped; empty if only the time was over. */
  readonly stopped: string;
  readonly spec: JobSpec;
  readonly now: number;
}

function conclude(status: JobStatus, { finished, stopped, spec, now }: Conclusion): Result {
  if (finished) {
    const message = `deleted ${itemsDeleted(status)}; the partition is empty`;
    return completed(status, message, { spec, now });
  }
  const why = stopped === '' ? 'the time of this run is over' : stopped;
  return {
    ...deleting(status),
    requeue: { afterSeconds: 0, reason: why },
  };
}
