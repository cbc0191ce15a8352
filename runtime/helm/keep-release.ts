import type { ReconcileContext } from '../reconcile.ts';
import { type LiveObject, readLive, releaseReadiness } from './live-objects.ts';
import { type ManifestRules, readStoredManifest, storedManifestDigest } from './manifest.ts';
import { asInstalled } from './marks.ts';
import { planRelease } from './plan-release.ts';
import type { ReleaseReport, WantedRelease } from './release.ts';
import { digestIn, manifestDigestIn } from './release-labels.ts';
import type { Work } from './releases.ts';
import { type Revision, recordOf } from './stored-release.ts';

/** Whether this revision is what is wanted: made of the same values and chart, and not by somebody else since. */
export async function isUpToDate(revision: Revision, digest: string): Promise<boolean> {
  if (revision.status !== 'deployed' || digestIn(revision) !== digest) return false;
  const record = await recordOf(revision);
  return (
    record !== undefined && storedManifestDigest(record.manifest) === manifestDigestIn(revision)
  );
}

/** A release that needs no upgrade: every object of it is looked at, and put right. */
export async function keepRelease(
  revision: Revision,
  wanted: WantedRelease,
  { repairDrift, context }: Work,
): Promise<ReleaseReport> {
  const { name, namespace } = wanted;
  const found = await readRevision(revision, wanted, context);
  const report = {
    name,
    namespace,
    revision: revision.version,
    manifestDigest: manifestDigestIn(revision) ?? '',
  };
  if (context.dryRun) {
    const plan = await planRelease(found, [], context);
    return { ...report, action: 'none', readiness: releaseReadiness(found), plan };
  }
  const repaired = await repairDrift(found, wanted, context);
  const action = repaired.some(({ changed }) => changed) ? 'repaired' : 'none';
  return { ...report, action, readiness: releaseReadiness(repaired), plan: [] };
}

/** The objects that a revision has applied, and what is there of them. */
export async function readRevision(
  revision: Revision,
  release: ManifestRules & Pick<WantedRelease, 'name'>,
  context: Pick<ReconcileContext, 'kube' | 'signal'>,
): Promise<readonly LiveObject[]> {
  const record = await recordOf(revision);
  const objects = readStoredManifest(record?.manifest ?? '', release);
  return readLive(
    objects.map((object) => asInstalled(object, release)),
    context,
  );
}
