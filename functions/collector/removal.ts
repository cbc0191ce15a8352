import { refOf } from '../../runtime/children/child.ts';
import { TerminalError } from '../../runtime/errors.ts';
import type { HelmReleases, ReleaseRef } from '../../runtime/helm/release.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { PlannedChange, ReconcileContext } from '../../runtime/reconcile.ts';
import { collector } from './operator.ts';
import type { Settings } from './settings.ts';
import { readPlace } from './spec.ts';
import { isKnown, isSameRelease, knownReleases, nameOf } from './status.ts';
import { ownerOf } from './wanted.ts';

/** One reconcile of one object. */
export interface Run {
  readonly object: KubeObject;
  readonly releases: HelmReleases;
  readonly context: ReconcileContext;
}

/** All that has to go with the object. Also what its spec asks for: backups do not bring a status back. */
export function possibleReleases(object: KubeObject, settings: Settings): readonly ReleaseRef[] {
  const known = knownReleases(object);
  const wanted = releaseInSpec(object, settings);
  return wanted && !known.some((one) => isSameRelease(one, wanted)) ? [...known, wanted] : known;
}

function releaseInSpec({ spec }: KubeObject, settings: Settings): ReleaseRef | undefined {
  try {
    return readPlace(spec, settings).release;
  } catch (error) {
    // It never led to a release.
    if (error instanceof TerminalError) return undefined;
    throw error;
  }
}

/** Uninstalls those that are there and are this object's, each in its own namespace. */
export async function removeAll(
  gone: readonly ReleaseRef[],
  { object, releases, context }: Run,
): Promise<readonly PlannedChange[]> {
  const plan: PlannedChange[] = [];
  for (const release of gone) {
    const removed = await releases.remove(release, ownerOf(object), context);
    plan.push(...removed);
    if (removed.length === 0) continue;
    const message = `release ${nameOf(release)} was removed`;
    await context.announce({ reason: 'ReleaseRemoved', message });
  }
  return plan;
}

/**
 * Runs by hand do not pass the queue. Another run may have moved or removed a release that this one then installed again, and would
 * not know of it.
 */
export async function removeIfStray(release: ReleaseRef, run: Run): Promise<boolean> {
  const { object, context } = run;
  const now = await context.kube.get(refOf(collector.kind, object));
  if (now && now.metadata.uid === object.metadata.uid && isKnown(release, now)) return false;
  context.log.info('stray release removed', { release: nameOf(release) });
  await removeAll([release], run);
  return true;
}
