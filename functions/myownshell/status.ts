import { describeRef } from '../../runtime/children/child.ts';
import { conflictConditions } from '../../runtime/children/conditions.ts';
import { ConflictError } from '../../runtime/children/conflict.ts';
import { readinessOf } from '../../runtime/children/readiness.ts';
import type { SyncedChild } from '../../runtime/children/sync.ts';
import { TerminalError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type {
  ConditionState,
  Failure,
  FailureDescription,
  Requeue,
  Result,
} from '../../runtime/reconcile.ts';
import { fieldOf } from '../../runtime/untrusted.ts';
import type { MyOwnShell } from './generated/myownshell.ts';

type ShellStatus = Pick<NonNullable<MyOwnShell['status']>, 'replicas' | 'readyReplicas'>;

/** The deletion of a child that is ours wakes us; one that the operator before us made has no label to be watched by. */
const untilGone: Requeue = { afterSeconds: 2, reason: 'a child has to be gone to be made anew' };

export function report(
  children: readonly SyncedChild[],
): Pick<Result, 'status' | 'conditions' | 'requeue'> {
  const leaving = children.find((child) => child.leaving);
  const [first] = children;
  const deployment = first?.leaving ? undefined : first?.live;
  return {
    status: countsOf(deployment),
    conditions: [leaving ? notYet(leaving) : readyCondition(deployment)],
    ...(leaving && { requeue: untilGone }),
  };
}

export function statusOf({ status }: KubeObject): ShellStatus {
  const { replicas, readyReplicas } = (status ?? {}) as ShellStatus;
  return {
    ...(replicas !== undefined && { replicas }),
    ...(readyReplicas !== undefined && { readyReplicas }),
  };
}

/** Where the spec or a name is at fault nothing was looked at, and old counts would pass for new ones. */
export function describeFailure(failure: Failure): FailureDescription {
  const { object, error } = failure;
  const stopped = error instanceof TerminalError || error instanceof ConflictError;
  return { status: stopped ? {} : statusOf(object), conditions: conflictConditions(failure) };
}

const countsOf = (deployment: KubeObject | undefined): ShellStatus => ({
  replicas: countOf(deployment, 'replicas'),
  readyReplicas: countOf(deployment, 'readyReplicas'),
});

/** Kubernetes leaves a count of zero out. */
const countOf = (deployment: KubeObject | undefined, name: string): number =>
  Number(fieldOf(deployment?.status, name) ?? 0);

const notYet = ({ manifest }: SyncedChild): ConditionState => ({
  type: 'Ready',
  status: 'False',
  reason: 'ChildLeaving',
  message: `${describeRef(manifest.ref)} is being deleted; it is made anew once it is gone`,
});

function readyCondition(deployment: KubeObject | undefined): ConditionState {
  // Only in a dry run is there none.
  const readiness = deployment && readinessOf(deployment);
  if (readiness?.ready) {
    const message = `${countOf(deployment, 'readyReplicas')} of ${wantedOf(deployment)} pods are ready`;
    return { type: 'Ready', status: 'True', reason: 'DeploymentReady', message };
  }
  const reason = readiness?.failed ? 'DeploymentFailed' : 'DeploymentNotReady';
  const message = readiness?.why ?? 'the Deployment does not exist yet';
  return { type: 'Ready', status: 'False', reason, message };
}

const wantedOf = (deployment: KubeObject | undefined): number =>
  Number(fieldOf(deployment?.spec, 'replicas') ?? 0);
