import { controllerOf, describeRef, type Owner } from '../children/child.ts';
import { ConflictError, describeOwner } from '../children/conflict.ts';
import { type Readiness, readinessOf } from '../children/readiness.ts';
import { concurrently } from '../concurrently.ts';
import type { KubeObject } from '../kube/objects.ts';
import { ANNOTATION_OWNER, ownerText } from '../labels.ts';
import type { ReconcileContext } from '../reconcile.ts';
import { isHook, type ReleaseObject } from './manifest.ts';
import { isPartOf } from './marks.ts';
import type { ReleaseRef } from './release.ts';

export const CALLS_AT_ONCE = 10;

/** An object of a release, and what the cluster has of it. */
export interface LiveObject {
  readonly object: ReleaseObject;
  readonly live: KubeObject | undefined;
}

export const readLive = (
  objects: readonly ReleaseObject[],
  { kube, signal }: Pick<ReconcileContext, 'kube' | 'signal'>,
): Promise<readonly LiveObject[]> =>
  concurrently(objects, CALLS_AT_ONCE, async (object) => ({
    object,
    live: await kube.get(object.ref, signal),
  }));

/** Throws if one of the names is taken. A hook of that name would even be deleted by Helm, to make room for its own. */
export function refuseForeign(
  found: readonly LiveObject[],
  release: ReleaseRef,
  owner: Owner,
): void {
  for (const { object, live } of found) {
    if (!live || isPartOf(release, live)) continue;
    if (isHook(object) && (release.adopt === true || isMarkedBy(owner, live))) continue;
    throw new ConflictError(object.ref, describeOwner(live));
  }
}

/** Hooks are no part of a release, but carry who they were made for. */
export function isMarkedBy({ object }: Owner, live: KubeObject): boolean {
  const text = live.metadata.annotations?.[ANNOTATION_OWNER];
  const controller = controllerOf(live);
  return controller ? controller.uid === object.metadata.uid : text === ownerText(object.metadata);
}

/** Of the release as a whole: that of the first object that is not ready. */
export function releaseReadiness(found: readonly LiveObject[]): Readiness {
  const states = found.map(({ object, live }) => ({
    subject: describeRef(object.ref),
    readiness: live ? readinessOf(live) : MISSING,
  }));
  // What is broken says more than what is only slow.
  const worst =
    states.find(({ readiness }) => !readiness.ready && readiness.failed) ??
    states.find(({ readiness }) => !readiness.ready);
  if (!worst || worst.readiness.ready) return { ready: true };
  return { ...worst.readiness, why: `${worst.subject}: ${worst.readiness.why}` };
}

const MISSING: Readiness = { ready: false, failed: false, why: 'does not exist' };
