import { conflictConditions } from '../../runtime/children/conditions.ts';
import { ConflictError } from '../../runtime/children/conflict.ts';
import { TerminalError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { ownStatus } from '../../runtime/kube/own-status.ts';
import type {
  ConditionState,
  Failure,
  FailureDescription,
  Result,
} from '../../runtime/reconcile.ts';
import type { Goop } from './generated/goop.ts';
import type { Progress, Trouble } from './progress.ts';
import type { GoopSpec } from './spec.ts';

export type GoopStatus = Omit<
  NonNullable<Goop['status']>,
  'conditions' | 'observedGeneration' | 'lastHandledReconcileAt'
>;

/** The status is for people; whoever needs all of them lists the Jobs. */
const MAX_NAMED = 5;

/** The kind's own part of an object's status. */
export const statusOf = ({ status = {} }: KubeObject): GoopStatus => ownStatus(status);

/** Status and conditions, which always say the same. */
export function report({ mode, workDigest }: GoopSpec, progress: Progress): Result {
  const { workers, done, failed, completedIndexes, plan, requeue } = progress;
  const deployed = deployedCondition(progress);
  const completed = completedCondition(progress, deployed);
  return {
    status: {
      mode,
      workDigest,
      workers,
      succeeded: done,
      failed: failed.length,
      ...(completedIndexes && { completedIndexes }),
    } satisfies GoopStatus,
    conditions: [
      { ...completed, type: 'Ready' },
      { type: 'Initialized', status: 'True', reason: 'SpecAccepted', message: 'the spec is valid' },
      deployed,
      completed,
      notFinalized,
    ],
    plan,
    ...(requeue && { requeue }),
  };
}

const notFinalized: ConditionState = {
  type: 'Finalized',
  status: 'False',
  reason: 'NotDeleted',
  message: 'the object is not being deleted',
};

function deployedCondition({ workers, deployed, unknown }: Progress): ConditionState {
  const type = 'Deployed';
  if (unknown !== undefined)
    return { type, status: 'False', reason: 'Deploying', message: unknown };
  const message = `${deployed} of ${workers} workers are deployed`;
  return deployed < workers
    ? { type, status: 'False', reason: 'Deploying', message }
    : { type, status: 'True', reason: 'WorkersDeployed', message };
}

function completedCondition(progress: Progress, deployed: ConditionState): ConditionState {
  const type = 'Completed';
  const { workers, done, failed, late } = progress;
  const counts = `${done} of ${workers} workers are done`;
  if (failed.length > 0) {
    const message = `${failed.length} of ${workers} workers failed: ${named(failed)}`;
    return { type, status: 'False', reason: 'WorkerFailed', message };
  }
  if (deployed.status !== 'True') return { ...deployed, type };
  if (done === workers) return { type, status: 'True', reason: 'WorkersDone', message: counts };
  const message = late.length > 0 ? `${counts}; ${named(late)}` : counts;
  return { type, status: 'False', reason: 'WorkersRunning', message };
}

function named(troubles: readonly Trouble[]): string {
  const shown = troubles.slice(0, MAX_NAMED).map(({ who, why }) => `${who} (${why})`);
  const more = troubles.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** What an error says of each step: nothing of it is done where the spec or a name is at fault, else nobody has looked. */
export function describeFailure(failure: Failure): FailureDescription {
  const { object, error } = failure;
  const { reason, message } = error;
  const invalid = error instanceof TerminalError;
  const undone = invalid || error instanceof ConflictError ? 'False' : 'Unknown';
  const initialized = invalid
    ? ({ status: 'False', reason, message } as const)
    : ({ status: 'True', reason: 'SpecAccepted', message: 'the spec is valid' } as const);
  return {
    status: statusOf(object),
    conditions: [
      { type: 'Initialized', ...initialized },
      { type: 'Deployed', status: undone, reason, message },
      { type: 'Completed', status: undone, reason, message },
      notFinalized,
      ...conflictConditions(failure),
    ],
  };
}

/** Shown until the object is gone. */
export function finalized(object: KubeObject): Pick<Result, 'status' | 'conditions'> {
  const message = 'deleted; its workers go with it';
  const reason = 'Deleted';
  const others = (object.status?.conditions ?? []).filter(
    ({ type }) => !['Ready', 'Finalized'].includes(type),
  );
  return {
    status: statusOf(object),
    conditions: [
      { type: 'Ready', status: 'False', reason, message },
      ...others,
      { type: 'Finalized', status: 'True', reason, message },
    ],
  };
}
