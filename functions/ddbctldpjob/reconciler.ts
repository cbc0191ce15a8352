import { requestedReconcile } from '../../runtime/annotations.ts';
import { toTimestamp } from '../../runtime/clock.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { describeError } from '../../runtime/log.ts';
import { classify } from '../../runtime/outcome.ts';
import type { ReconcileContext, Reconciler, Result, Verdict } from '../../runtime/reconcile.ts';
import { countPartition } from './count-partition.ts';
import { deletePartition } from './delete-partition.ts';
import { readPartitionValue } from './partition-value.ts';
import { type JobSpec, type JobStatus, parseSpec, type Target } from './spec.ts';
import {
  addProgress,
  describeFailure,
  heldBack,
  inPhase,
  itemsDeleted,
  progressOn,
  reopened,
  statusOf,
  unchanged,
  untilExpiry,
  withoutRun,
} from './status.ts';
import type { Partition, PartitionTable } from './table.ts';

/** The share of the wind-up time for batches under way; the rest is for storing the status. */
const GRACE_SHARE = 0.6;
/** Reports in a row that may be missed while the API server is away, half a minute or so: nobody can stop the work then. */
const MAX_MISSED_REPORTS = 3;

/** What this operator needs from the world. */
export interface Ports {
  openTable(target: Target): PartitionTable;
}

export function createReconciler({ openTable }: Ports): Reconciler {
  return {
    describeFailure,
    reconcile: async (object, context) => {
      const spec = parseSpec(object.spec);
      if (!spec.ok) throw new TerminalError('InvalidSpec', spec.problem);
      const { target, suspend } = spec.value;
      const reached = progressOn(target, object);
      if (isFinished(object, reached)) return finished(object, spec.value, context);

      const busy = otherRun(object, context);
      if (busy && !context.dryRun) return { ...unchanged(object), requeue: busy };
      const status = reopened(reached);
      if (suspend && !context.dryRun)
        return inPhase('Suspended', status, `suspended; deleted ${itemsDeleted(status)} so far`);

      const partition = await openPartition(openTable(target), target, context);
      if (context.dryRun || target.dryRun)
        return count(partition, { object, spec: spec.value, status }, context);
      if (status.startTime === undefined) await refuseTooMany(partition, spec.value, context);
      return work(partition, { object, spec: spec.value, status }, context);
    },
  };
}

/** Completed stays so for its target; Failed until the spec changes or somebody asks for another look. */
function isFinished(object: KubeObject, status: JobStatus): boolean {
  if (status.phase === 'Completed') return true;
  const { observedGeneration, lastHandledReconcileAt } = object.status ?? {};
  const asked = requestedReconcile(object.metadata);
  const askedAgain = asked !== undefined && asked !== lastHandledReconcileAt;
  return (
    status.phase === 'Failed' && observedGeneration === object.metadata.generation && !askedAgain
  );
}

function finished(object: KubeObject, spec: JobSpec, { clock }: ReconcileContext): Result {
  const { phase, message = '' } = statusOf(object);
  const plan = [{ action: 'none', subject: `this job is ${phase}`, detail: message }] as const;
  const expiry = untilExpiry(statusOf(object), spec, clock.now());
  if (expiry === 'over') return { ...unchanged(object), remove: 'ttlSecondsAfterFinished is over' };
  return { ...unchanged(object), plan, ...(expiry && { requeue: expiry }) };
}

/** Runs by hand do not pass the queue, so the queue alone cannot keep two runs of one object apart. */
function otherRun(object: KubeObject, { clock, runId }: ReconcileContext) {
  const { run } = statusOf(object);
  if (!run || run.id === runId) return undefined;
  const left = (Date.parse(run.until) - clock.now()) / 1000;
  return left > 0
    ? { afterSeconds: left + 1, reason: `another run is at work until ${run.until}` }
    : undefined;
}

async function openPartition(
  table: PartitionTable,
  target: Target,
  { signal }: ReconcileContext,
): Promise<Partition> {
  const keys = await table.describe(signal);
  const { tableName, partitionValue } = target;
  const value = readPartitionValue(partitionValue, { tableName, partitionKey: keys.partitionKey });
  if (!value.ok) throw new TerminalError('InvalidSpec', value.problem);
  return table.partition(keys, value.value);
}

async function refuseTooMany(
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

interface Job {
  readonly object: KubeObject;
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

async function count(
  partition: Partition,
  { spec, status }: Job,
  context: ReconcileContext,
): Promise<Result> {
  const { clock, signal } = context;
  const startTime = toTimestamp(clock.now());
  const { count, complete, readUnits } = await countPartition(partition, { clock, signal });
  const found = `${complete ? '' : 'at least '}${count} ${count === 1 ? 'item' : 'items'}`;
  const { tableName, partitionValue } = spec.target;
  const held = count === 0 ? '' : heldBack(count, spec, status);
  const result = {
    ...status,
    startTime,
    completionTime: toTimestamp(clock.now()),
    matchedItems: count,
    consumedReadUnits: readUnits,
  };
  return {
    ...inPhase('Completed', result, `dry run: ${found} would be deleted`),
    plan: [
      {
        action: count === 0 || held !== '' ? 'none' : 'delete',
        subject: `items of partition "${partitionValue}" of table "${tableName}"`,
        detail: found + held,
      },
    ],
  };
}

async function work(
  partition: Partition,
  { object, spec, status }: Job,
  context: ReconcileContext,
): Promise<Result> {
  const { clock, signal, runId: id } = context;
  const run = { id, until: toTimestamp(context.deadline + 999) };
  const start = { startTime: toTimestamp(clock.now()), ...status, run };
  const report = (current: JobStatus) =>
    context.checkpoint(inPhase('Deleting', current, `deleting; ${itemsDeleted(current)} so far`));

  const claim = await report(start);
  if (!claim.goOn) return unchanged(object);
  let stopped = '';
  const patiently = tolerateOutages(context);
  const result = await deletePartition(partition, {
    clock,
    signal,
    graceMs: context.windUpMilliseconds * GRACE_SHARE,
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

interface Conclusion {
  readonly finished: boolean;
  readonly stopped: string;
  readonly spec: JobSpec;
  readonly now: number;
}

function conclude(status: JobStatus, { finished, stopped, spec, now }: Conclusion): Result {
  if (finished) {
    const completed = { ...status, completionTime: toTimestamp(now) };
    const expiry = untilExpiry(completed, spec, now);
    const message = `deleted ${itemsDeleted(status)}; the partition is empty`;
    const after =
      expiry === 'over'
        ? { remove: 'ttlSecondsAfterFinished is 0' }
        : expiry && { requeue: expiry };
    return { ...inPhase('Completed', completed, message), ...after };
  }
  const why = stopped === '' ? 'the time of this run is over' : stopped;
  return {
    ...inPhase('Deleting', status, `deleting; ${itemsDeleted(status)} so far`),
    requeue: { afterSeconds: 0, reason: why },
  };
}
