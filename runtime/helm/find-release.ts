import type { Owner } from '../children/child.ts';
import { ConflictError } from '../children/conflict.ts';
import { toTimestamp } from '../clock.ts';
import { TransientError } from '../errors.ts';
import type { ObjectRef } from '../kube/objects.ts';
import type { ReconcileContext } from '../reconcile.ts';
import type { ReleaseRef } from './release.ts';
import { busyUntil, isOwnedBy, isUnmarked } from './release-labels.ts';
import { describeReleaseOwner } from './release-owner.ts';
import { type Revision, readRevisions } from './stored-release.ts';

type Reading = Pick<ReconcileContext, 'kube' | 'signal'>;

/** The newest revision of a release that is this owner's; undefined if there is no release. Throws if it is another's. */
export async function findRelease(
  release: ReleaseRef,
  owner: Owner,
  { kube, signal }: Reading,
): Promise<Revision | undefined> {
  const [newest] = await readRevisions(release, kube, { signal });
  if (!newest || isOurs(newest, release, owner)) return newest;
  throw new ConflictError(releaseRef(release), await describeReleaseOwner(newest));
}

export const isOurs = (revision: Revision, { adopt = false }: ReleaseRef, owner: Owner): boolean =>
  isOwnedBy(owner, revision) || (adopt && isUnmarked(revision));

/** For messages: a release is no object of the API. */
export const releaseRef = ({ name, namespace }: ReleaseRef): ObjectRef => ({
  kind: { group: '', version: '', kind: 'Helm release', plural: '' },
  namespace,
  name,
});

/** Runs by hand do not pass the queue, so the queue alone cannot keep two runs of one object apart. */
export function refuseWhileBusy(
  revision: Revision,
  { name }: ReleaseRef,
  { clock }: Pick<ReconcileContext, 'clock'>,
): void {
  const until = busyUntil(revision);
  if (!revision.status.startsWith('pending-') || until <= clock.now()) return;
  const message = `another run is at work on the release ${name}, until ${toTimestamp(until)} at the latest`;
  throw new TransientError('ReleaseBusy', message);
}
