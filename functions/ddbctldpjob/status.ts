import { toTimestamp } from '../../runtime/clock.ts';
import { TerminalError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { ownStatus } from '../../runtime/kube/own-status.ts';
import type { ConditionState, Failure, Requeue, Result } from '../../runtime/reconcile.ts';
import type { DeletionProgress } from './delete-partition.ts';
import { type JobSpec, type JobStatus, parseSpec, type Target } from './spec.ts';

type Phase = NonNullable<JobStatus['phase']>;

/** What the Ready condition says in each phase: it is True only when the job is done. */
const reasons: Readonly<Record<Exclude<Phase, 'Failed'>, string>> = {
  Pending: 'Pending',
  Deleting: 'Deleting',
  Suspended: 'Suspended',
  Completed: 'Completed',
};

/** The kind's own part of an object's status. */
export const statusOf = ({ status = {} }: KubeObject): JobStatus => ownStatus(status);

/** What was reached for this very target; nothing, if the status speaks of another one. */
export function progressOn(target: Target, object: KubeObject): JobStatus {
  const status = statusOf(object);
  return sameTarget(status.target, target) ? status : { target, deletedItems: 0 };
}

function sameTarget(one: Target | undefined, other: Target): boolean {
  return (
    one !== undefined &&
    one.tableName === other.tableName &&
    one.partitionValue === other.partitionValue &&
    one.awsRegion === other.awsRegion &&
    one.endpointURL === other.endpointURL &&
    one.dryRun === other.dryRun
  );
}

/** Status and Ready condition of a phase, which always say the same. */
export function inPhase(
  phase: Exclude<Phase, 'Failed'>,
  status: JobStatus,
  message: string,
): { readonly status: JobStatus; readonly conditions: readonly ConditionState[] } {
  const ready = phase === 'Completed' ? 'True' : 'False';
  return {
    status: { ...status, phase, message },
    conditions: [{ type: 'Ready', status: ready, reason: reasons[phase], message }],
  };
}

/** As it is: the runtime will find nothing to write. */
export function unchanged(object: KubeObject): Pick<Result, 'status' | 'conditions'> {
  return { status: statusOf(object), conditions: object.status?.conditions ?? [] };
}

export function addProgress(
  { throttledBy: _before, ...status }: JobStatus,
  progress: DeletionProgress,
): JobStatus {
  const { throttledBy } = progress;
  return {
    ...status,
    ...(throttledBy !== undefined && { throttledBy }),
    deletedItems: (status.deletedItems ?? 0) + progress.deleted,
    consumedWriteUnits: rounded((status.consumedWriteUnits ?? 0) + progress.writeUnits),
    consumedReadUnits: rounded((status.consumedReadUnits ?? 0) + progress.readUnits),
  };
}

/** Capacity comes in halves; sums of many must not show the noise of binary fractions. */
const rounded = (units: number): number => Math.round(units * 10) / 10;

export const itemsDeleted = ({ deletedItems = 0, deletedItemsExact = true }: JobStatus): string =>
  `${deletedItemsExact ? '' : 'at least '}${deletedItems} ${deletedItems === 1 ? 'item' : 'items'}`;

/** Why a run would not delete what is there; '' if it would. */
export function heldBack(count: number, spec: JobSpec, { startTime }: JobStatus): string {
  const { target, suspend, maxItems = Number.POSITIVE_INFINITY } = spec;
  if (target.dryRun) return '; spec.dryRun has them counted only';
  if (suspend) return '; spec.suspend has them wait';
  const refused = startTime === undefined && count > maxItems;
  return refused ? `, more than spec.maxItems = ${maxItems}: the job would fail` : '';
}

/** Without the run that has ended. */
export function withoutRun({ run: _run, ...status }: JobStatus): JobStatus {
  return status;
}

/** A run that is still noted here was killed: what it deleted since its last report was never counted. */
export function withoutKilledRun(status: JobStatus): JobStatus {
  return status.run ? { ...withoutRun(status), deletedItemsExact: false } : status;
}

/** Not finished any more: what a run goes on from. */
export function reopened({ completionTime: _time, ...status }: JobStatus): JobStatus {
  return withoutKilledRun(status);
}

/** The status after an error; Failed only if trying again cannot help. */
export function describeFailure({
  object,
  error,
  now,
}: Failure): Pick<Result, 'status' | 'requeue'> {
  const spec = parseSpec(object.spec);
  const reached = spec.ok ? progressOn(spec.value.target, object) : statusOf(object);
  if (!(error instanceof TerminalError)) {
    return { status: { ...reopened(reached), phase: 'Pending', message: error.message } };
  }
  const status = withoutKilledRun(reached);
  const known = status.phase === 'Failed' && status.message === error.message;
  const completionTime = (known && status.completionTime) || toTimestamp(now);
  const failed = { ...status, phase: 'Failed' as const, message: error.message, completionTime };
  const expiry = spec.ok ? untilExpiry(failed, spec.value, now) : undefined;
  return { status: failed, ...(expiry && { requeue: expiry === 'over' ? atOnce : expiry }) };
}

/** The next look removes it. */
const atOnce: Requeue = { afterSeconds: 0, reason: 'ttlSecondsAfterFinished' };

/** When a finished job is to be removed, if ever. */
export function untilExpiry(
  { completionTime }: JobStatus,
  { ttlSecondsAfterFinished }: JobSpec,
  now: number,
): Requeue | 'over' | undefined {
  if (ttlSecondsAfterFinished === undefined || completionTime === undefined) return undefined;
  const left = (Date.parse(completionTime) - now) / 1000 + ttlSecondsAfterFinished;
  return left <= 0 ? 'over' : { afterSeconds: left, reason: 'ttlSecondsAfterFinished' };
}

/** The end of a job, and when its object is to go. */
export function completed(
  status: JobStatus,
  message: string,
  { spec, now }: { readonly spec: JobSpec; readonly now: number },
): Result {
  const { throttledBy: _over, ...rest } = status;
  const ended = { ...rest, completionTime: toTimestamp(now) };
  const expiry = untilExpiry(ended, spec, now);
  if (expiry === 'over') {
    return { ...inPhase('Completed', ended, message), remove: 'ttlSecondsAfterFinished is 0' };
  }
  return { ...inPhase('Completed', ended, message), ...(expiry && { requeue: expiry }) };
}
