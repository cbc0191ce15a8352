import type { KubeObject } from '../../runtime/kube/objects.ts';
import { isDone } from './job-state.ts';
import type { WorkerJob } from './worker-job.ts';

/** What is to be done about the worker Jobs of a Goop. */
export interface Decision {
  /** To be made, or checked field by field. */
  readonly apply: readonly WorkerJob[];
  /** Surplus ones, and those whose work is outdated. */
  readonly remove: readonly KubeObject[];
  /** Good as they are, but made by an older version of us: what they differ in, nobody can change. */
  readonly keep: readonly KubeObject[];
  /** Cannot be made before a Job of the same name is gone. */
  readonly wait: readonly WorkerJob[];
  /** Those that did the work, also if their Jobs were deleted since: they do not run again. */
  readonly done: readonly WorkerJob[];
}

/**
 * @param live the Jobs that there are
 * @param recorded numbers of the workers that were seen to have done this very work
 */
export function decideWorkers(
  wanted: readonly WorkerJob[],
  live: readonly KubeObject[],
  recorded: ReadonlySet<number>,
): Decision {
  const jobs = new Map(live.map((job) => [job.metadata.name, job]));
  const decision: Draft = { apply: [], remove: [], keep: [], wait: [], done: [] };
  for (const worker of wanted) {
    decideWorker(worker, jobs.get(worker.name), { decision, recorded });
    jobs.delete(worker.name);
  }
  decision.remove.push(...jobs.values());
  return decision;
}

type Draft = { [Key in keyof Decision]: Decision[Key][number][] };

function decideWorker(
  worker: WorkerJob,
  job: KubeObject | undefined,
  { decision, recorded }: { readonly decision: Draft; readonly recorded: ReadonlySet<number> },
): void {
  const leaving = job?.metadata.deletionTimestamp !== undefined;
  if (job && !leaving && worker.isOutdated(job)) {
    decision.remove.push(job);
    decision.wait.push(worker);
  } else if (job && !leaving) {
    if (isDone(job)) decision.done.push(worker);
    if (worker.isOfOldMake(job)) decision.keep.push(job);
    else decision.apply.push(worker);
  } else if (recorded.has(worker.index)) {
    decision.done.push(worker);
  } else if (job) {
    decision.wait.push(worker);
  } else {
    decision.apply.push(worker);
  }
}
