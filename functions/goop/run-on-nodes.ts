import { refOf } from '../../runtime/children/child.ts';
import { readChildren } from '../../runtime/children/read.ts';
import { readinessOf } from '../../runtime/children/readiness.ts';
import { removeChildren, syncChildren } from '../../runtime/children/sync.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { ReconcileContext, Requeue } from '../../runtime/reconcile.ts';
import { fieldOf } from '../../runtime/untrusted.ts';
import { readFailedNodes } from './failed-nodes.ts';
import { nodeWorkers } from './node-workers.ts';
import { goop, jobKind } from './operator.ts';
import type { Progress } from './progress.ts';
import type { GoopSpec } from './spec.ts';

/** A worker that fails changes nothing in its DaemonSet, so nothing wakes us. */
const lookAgain: Requeue = { afterSeconds: 15, reason: 'not every node is done' };

/** Mode DaemonSet: one worker on each node that takes it, also on nodes that come later. */
export async function runOnNodes(
  object: KubeObject,
  spec: GoopSpec,
  context: ReconcileContext,
): Promise<Progress> {
  const jobs = await readChildren(jobKind, { object, operator: goop.name }, context);
  const synced = await syncChildren(object, [nodeWorkers(object, spec)], context);
  const surplus = jobs.map((live) => ({ ref: refOf(jobKind, live), live }));
  const removed = await removeChildren(object, surplus, context);
  const [daemonSet] = synced.flatMap(({ live, leaving }) => (live && !leaving ? [live] : []));
  return {
    ...(await progressOf(daemonSet, context)),
    plan: [...synced.map(({ plan }) => plan), ...removed],
  };
}

async function progressOf(
  daemonSet: KubeObject | undefined,
  context: ReconcileContext,
): Promise<Omit<Progress, 'plan'>> {
  if (!daemonSet) return nothingKnown('the DaemonSet is not there yet');
  const unknown = whyUnknown(daemonSet);
  if (unknown !== undefined) return nothingKnown(unknown);
  const workers = countOf(daemonSet, 'desiredNumberScheduled');
  const deployed = Math.min(countOf(daemonSet, 'currentNumberScheduled'), workers);
  if (readinessOf(daemonSet).ready)
    return { workers, deployed, done: workers, failed: [], late: [] };
  const ready = countOf(daemonSet, 'numberReady');
  const done = Math.min(ready, countOf(daemonSet, 'updatedNumberScheduled'), workers);
  const failed = await readFailedNodes(daemonSet, context);
  return { workers, deployed, done, failed, late: [], requeue: lookAgain };
}

const nothingKnown = (unknown: string): Omit<Progress, 'plan'> => ({
  workers: 0,
  deployed: 0,
  done: 0,
  failed: [],
  late: [],
  unknown,
  requeue: lookAgain,
});

/** Until its controller has seen the latest spec, its counts are about an older one. */
function whyUnknown(daemonSet: KubeObject): string | undefined {
  const { metadata, status } = daemonSet;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return 'the DaemonSet is not acted on yet';
  const workers = countOf(daemonSet, 'desiredNumberScheduled');
  return workers === 0 ? 'there is no node that takes a worker' : undefined;
}

const countOf = ({ status }: KubeObject, name: string): number =>
  Number(fieldOf(status, name) ?? 0);
