import { describeRef, refOf } from '../../runtime/children/child.ts';
import { readChildren } from '../../runtime/children/read.ts';
import { removeChildren, type SyncedChild, syncChildren } from '../../runtime/children/sync.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { PlannedChange, ReconcileContext, Requeue } from '../../runtime/reconcile.ts';
import { type Decision, decideWorkers } from './decide-workers.ts';
import { formatIndexes, parseIndexes } from './index-set.ts';
import { delayOf, failureOf } from './job-state.ts';
import { readNodeWorkers } from './node-workers.ts';
import { daemonSetKind, goop, jobKind } from './operator.ts';
import type { Progress } from './progress.ts';
import type { GoopSpec } from './spec.ts';
import { statusOf } from './status.ts';
import { type WorkerJob, workerJob } from './worker-job.ts';

/** The deletion of a Job wakes us; this is for the one that we are not told of. */
const untilGone: Requeue = { afterSeconds: 5, reason: 'a Job has to be gone to be made anew' };

/** Mode Jobs: so many Jobs, each of which does the work once. */
export async function runJobs(
  object: KubeObject,
  spec: GoopSpec,
  context: ReconcileContext,
): Promise<Progress> {
  const [jobs, daemonSets] = await Promise.all([
    readChildren(jobKind, { object, operator: goop.name }, context),
    readNodeWorkers(object, context),
  ]);
  const wanted = Array.from({ length: spec.jobCount }, (_, index) =>
    workerJob(index, object, spec),
  );
  const decision = decideWorkers(wanted, jobs, recorded(object, spec));
  const manifests = decision.apply.map(({ manifest }) => manifest);
  const synced = await syncChildren(object, manifests, context, jobs);
  const surplus = [
    ...decision.remove.map((live) => ({ ref: refOf(jobKind, live), live })),
    ...daemonSets.map((live) => ({ ref: refOf(daemonSetKind, live), live })),
  ];
  const removed = await removeChildren(object, surplus, context);
  return {
    ...progressOf(wanted.length, decision, synced),
    plan: [...synced.map(({ plan }) => plan), ...removed, ...decision.wait.map(laterOn)],
  };
}

function progressOf(
  workers: number,
  { apply, keep, wait, done }: Decision,
  synced: readonly SyncedChild[],
): Omit<Progress, 'plan'> {
  const made = synced.flatMap(({ live, leaving }) => (live && !leaving ? [live] : []));
  const present = [...keep, ...made];
  const missing = wait.length + apply.length - made.length;
  return {
    workers,
    deployed: workers - missing,
    done: done.length,
    completedIndexes: formatIndexes(done.map(({ index }) => index)),
    failed: present.flatMap((job) => failureOf(job) ?? []),
    late: present.flatMap((job) => delayOf(job) ?? []),
    ...(missing > 0 && { requeue: untilGone }),
  };
}

const laterOn = ({ manifest }: WorkerJob): PlannedChange => ({
  action: 'create',
  subject: describeRef(manifest.ref),
  detail: 'once the one of this name is gone',
});

/** What was reached by workers that did the same. */
function recorded(object: KubeObject, { workDigest, jobCount }: GoopSpec): ReadonlySet<number> {
  const { workDigest: before, completedIndexes = '' } = statusOf(object);
  return parseIndexes(before === workDigest ? completedIndexes : '', jobCount);
}
