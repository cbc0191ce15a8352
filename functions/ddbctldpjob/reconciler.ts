import { requestedReconcile } from '../../runtime/annotations.ts';
import { TerminalError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { ReconcileContext, Reconciler, Requeue, Result } from '../../runtime/reconcile.ts';
import { dryRun, refuseTooMany } from './count-first.ts';
import { deleteAndReport } from './delete-and-report.ts';
import { readPartitionValue } from './partition-value.ts';
import { type JobSpec, type JobStatus, parseSpec, type Target } from './spec.ts';
import {
  describeFailure,
  inPhase,
  itemsDeleted,
  progressOn,
  reopened,
  statusOf,
  unchanged,
  untilExpiry,
} from './status.ts';
import type { Partition, PartitionTable } from './table.ts';

/** What this operator needs from the world. */
export interface Ports {
  /** @param owner on whose behalf; throws an OperatorError where the target's endpoint is not allowed */
  openTable(target: Target, owner: KubeObject): PartitionTable;
  /** Default: nothing is looked up beforehand. */
  readonly prepare?: Reconciler['prepare'];
}

export function createReconciler({ openTable, prepare }: Ports): Reconciler {
  return {
    ...(prepare && { prepare }),
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

      const partition = await openPartition(openTable(target, object), target, context);
      if (context.dryRun || target.dryRun)
        return dryRun(partition, { spec: spec.value, status }, context);
      if (status.startTime === undefined) await refuseTooMany(partition, spec.value, context);
      return deleteAndReport(partition, { object, spec: spec.value, status }, context);
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
function otherRun(object: KubeObject, { clock, runId }: ReconcileContext): Requeue | undefined {
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
