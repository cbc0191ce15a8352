import { describeRef, refOf } from '../../runtime/children/child.ts';
import { isChildOf } from '../../runtime/children/sync.ts';
import { removeFinalizer } from '../../runtime/finalizer.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { PlannedChange, ReconcileContext } from '../../runtime/reconcile.ts';
import { deploymentKind, myownshell } from './operator.ts';

export interface FoundDeployment {
  /** As it is now, if it is known: none, or one. */
  readonly known: readonly KubeObject[];
  readonly plan: readonly PlannedChange[];
}

/**
 * The operator before this one put its finalizer on the Deployment as well, and never took it off: such a Deployment could
 * not be deleted. Takes it off, also if the Deployment is waiting to go.
 */
export async function dropOldFinalizer(
  owner: KubeObject,
  context: ReconcileContext,
): Promise<FoundDeployment> {
  const { kube, dryRun, log, signal } = context;
  const ref = refOf(deploymentKind, owner);
  const live = await kube.get(ref, signal);
  if (!live) return { known: [], plan: [] };
  const { finalizer } = myownshell;
  const { finalizers = [] } = live.metadata;
  const held = finalizer !== undefined && finalizers.includes(finalizer);
  if (!held || !isChildOf(owner, live, context)) return { known: [live], plan: [] };
  if (!dryRun) {
    await removeFinalizer(ref, live, { kube, finalizer });
    log.info('finalizer of the old operator removed', { child: describeRef(ref) });
  }
  const path = 'metadata.finalizers';
  const to = finalizers.filter((name) => name !== finalizer);
  const fields = [{ path, from: finalizers, to }];
  return {
    known: [],
    plan: [{ action: 'change', subject: describeRef(ref), detail: path, fields }],
  };
}
