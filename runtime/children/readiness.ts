import type { KubeObject } from '../kube/objects.ts';
import { fieldOf, textOf } from '../untrusted.ts';

/** Whether an object does what it is there for. */
export type Readiness =
  | { readonly ready: true }
  /** `failed`: it will not get ready by itself. */
  | { readonly ready: false; readonly failed: boolean; readonly why: string };

const READY: Readiness = { ready: true };
const waiting = (why: string): Readiness => ({ ready: false, failed: false, why });
const broken = (why: string): Readiness => ({ ready: false, failed: true, why });

const checks = new Map<string, (object: KubeObject) => Readiness>([
  ['apps/v1 Deployment', deploymentReady],
  ['apps/v1 StatefulSet', statefulSetReady],
  ['apps/v1 DaemonSet', daemonsReady],
  ['batch/v1 Job', jobDone],
  ['v1 Pod', podReady],
  ['v1 PersistentVolumeClaim', claimReady],
]);

/** Kinds that are not listed are ready once they exist. */
export function readinessOf(object: KubeObject): Readiness {
  if (object.metadata.deletionTimestamp !== undefined) return waiting('is being deleted');
  return checks.get(`${object.apiVersion} ${object.kind}`)?.(object) ?? READY;
}

/** Until its controller has seen the latest spec, the counts in status are about an older one. */
const isSeen = ({ metadata, status }: KubeObject): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const UNSEEN = waiting('its controller has not seen it yet');

const count = (object: unknown, name: string): number => Number(fieldOf(object, name) ?? 0);

const replicasWanted = ({ spec }: KubeObject): number => Number(fieldOf(spec, 'replicas') ?? 1);

function deploymentReady(object: KubeObject): Readiness {
  if (!isSeen(object)) return UNSEEN;
  const stuck = conditionOf(object, 'Progressing', 'False');
  if (textOf(stuck, 'reason') === 'ProgressDeadlineExceeded') {
    return broken(textOf(stuck, 'message') ?? 'it makes no progress');
  }
  const wanted = replicasWanted(object);
  const updated = count(object.status, 'updatedReplicas');
  const ready = Math.min(updated, count(object.status, 'availableReplicas'));
  const old = count(object.status, 'replicas') - updated;
  if (ready < wanted) {
    // Such as a quota that is used up.
    const refusal = textOf(conditionOf(object, 'ReplicaFailure'), 'message');
    return waiting(
      `${ready} of ${wanted} pods are ready${refusal === undefined ? '' : `: ${refusal}`}`,
    );
  }
  return old > 0 ? waiting(`${old} pods of an older version are still there`) : READY;
}

function statefulSetReady(object: KubeObject): Readiness {
  if (!isSeen(object)) return UNSEEN;
  const { spec, status } = object;
  const wanted = replicasWanted(object);
  const partition = count(fieldOf(fieldOf(spec, 'updateStrategy'), 'rollingUpdate'), 'partition');
  // Pods below the partition stay as they are, on purpose.
  const toUpdate = replacesOnDelete(spec) ? 0 : Math.max(0, wanted - partition);
  const ready = count(status, 'readyReplicas');
  if (ready < wanted) return waiting(`${ready} of ${wanted} pods are ready`);
  const old = toUpdate - count(status, 'updatedReplicas');
  return old > 0 ? waiting(`${old} pods of an older version are still there`) : READY;
}

function daemonsReady(object: KubeObject): Readiness {
  if (!isSeen(object)) return UNSEEN;
  const { spec, status } = object;
  const wanted = count(status, 'desiredNumberScheduled');
  const updated = replacesOnDelete(spec) ? wanted : count(status, 'updatedNumberScheduled');
  const ready = Math.min(count(status, 'numberReady'), updated);
  return ready < wanted ? waiting(`${ready} of ${wanted} nodes are ready`) : READY;
}

/** Old pods stay until a person deletes them. */
const replacesOnDelete = (spec: unknown): boolean =>
  textOf(fieldOf(spec, 'updateStrategy'), 'type') === 'OnDelete';

function jobDone(object: KubeObject): Readiness {
  const failed = conditionOf(object, 'Failed');
  if (failed) return broken(textOf(failed, 'message') ?? 'it failed');
  if (conditionOf(object, 'Complete')) return READY;
  return waiting(conditionOf(object, 'Suspended') ? 'is suspended' : 'is running');
}

function podReady(object: KubeObject): Readiness {
  const phase = textOf(object.status, 'phase') ?? 'Pending';
  if (phase === 'Failed') return broken(textOf(object.status, 'message') ?? 'it failed');
  const ready = phase === 'Succeeded' || conditionOf(object, 'Ready') !== undefined;
  return ready ? READY : waiting(`is ${phase}`);
}

/** One that waits for its first pod is as it should be. */
function claimReady({ status }: KubeObject): Readiness {
  return textOf(status, 'phase') === 'Lost' ? broken('its volume is lost') : READY;
}

const conditionOf = (object: KubeObject, type: string, state = 'True'): unknown =>
  object.status?.conditions?.find((one) => one.type === type && one.status === state);
