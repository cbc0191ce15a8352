import { type ChildManifest, manifestOf } from '../../runtime/children/child.ts';
import { differences } from '../../runtime/children/differences.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { fieldOf } from '../../runtime/untrusted.ts';
import { workerName } from './names.ts';
import { goop, jobKind } from './operator.ts';
import type { GoopSpec } from './spec.ts';
import { apart, labelsOf, printing } from './work.ts';

/** On a Job: `workDigest` of the spec it was made for. */
const ANNOTATION_WORK = 'goop.example.com/work-digest';
/** A worker is tried three times. */
const BACKOFF_LIMIT = 2;

export interface WorkerJob {
  readonly index: number;
  readonly name: string;
  readonly manifest: ChildManifest;
  /** Whether a Job of this name was made to do something else. */
  isOutdated(live: KubeObject): boolean;
  /** Whether the fields that nobody can change are other than they would be made today, by an older version of us. */
  isOfOldMake(live: KubeObject): boolean;
}

export function workerJob(index: number, object: KubeObject, spec: GoopSpec): WorkerJob {
  const name = workerName(object.metadata.name, index);
  const labels = labelsOf(object.metadata.name);
  const containers = [printing(`worker ${index}`, spec.foo)];
  const annotations = { [ANNOTATION_WORK]: spec.workDigest };
  const fixed = {
    completions: 1,
    // A node that goes away is not the worker's fault.
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ],
    },
    template: { metadata: { labels }, spec: { restartPolicy: 'Never', ...apart, containers } },
  };
  const content = { spec: { parallelism: 1, backoffLimit: BACKOFF_LIMIT, ...fixed } };
  return {
    index,
    name,
    manifest: manifestOf(
      { kind: jobKind, name, labels, annotations, content },
      { object, operator: goop.name },
    ),
    // The annotation can be edited and the template be of another version of ours; what is outdated differs in both.
    isOutdated: (live) =>
      live.metadata.annotations?.[ANNOTATION_WORK] !== spec.workDigest &&
      differences(fixed.template, fieldOf(live.spec, 'template')).length > 0,
    isOfOldMake: (live) => differences(fixed, live.spec).length > 0,
  };
}
