import { describeRef, type Owner } from '../children/child.ts';
import { planDelete } from '../children/plan.ts';
import { concurrently } from '../concurrently.ts';
import { TransientError } from '../errors.ts';
import type { PlannedChange } from '../reconcile.ts';
import { usualChartKinds } from './chart-kinds.ts';
import { isOurs, refuseWhileBusy } from './find-release.ts';
import { CALLS_AT_ONCE, isMarkedBy, readLive } from './live-objects.ts';
import { type ManifestRules, type ReleaseObject, readStoredManifest } from './manifest.ts';
import type { ReleaseRef } from './release.ts';
import type { Work } from './releases.ts';
import { errorOf } from './safe-message.ts';
import { type ReleaseRecord, type Revision, readRevisions, recordOf } from './stored-release.ts';
import { applyTime, recoveryTime } from './time-budget.ts';

/** Uninstalls a release that is this owner's. One of somebody else is left, and the user is told. */
export async function removeRelease(
  release: ReleaseRef,
  owner: Owner,
  work: Work,
): Promise<readonly PlannedChange[]> {
  const { context } = work;
  const { kube, signal, dryRun } = context;
  const [newest] = await readRevisions(release, kube, { superseded: true, signal });
  if (!newest) return [];
  if (!isOurs(newest, release, owner)) {
    const message = `the Helm release ${release.namespace}/${release.name} belongs to somebody else and was left`;
    await context.announce({ reason: 'ReleaseLeft', message, type: 'Warning' });
    return [];
  }
  refuseWhileBusy(newest, release, context);
  const rules = { ...release, allowed: usualChartKinds };
  const plan = plannedRemoval(await recordOf(newest), rules);
  if (dryRun) return plan;
  await uninstall(release, work);
  await removeHooks(newest, rules, owner, work);
  context.log.info('release removed', { release: release.name, namespace: release.namespace });
  return plan;
}

const plannedRemoval = (
  record: ReleaseRecord | undefined,
  rules: ManifestRules,
): readonly PlannedChange[] =>
  readStoredManifest(record?.manifest ?? '', rules).map(({ ref }) => planDelete(ref));

/** A hook that never ends must not keep the object for ever: the second try goes without. */
async function uninstall(release: ReleaseRef, { actions, context, safe }: Work): Promise<void> {
  const first = await actions.uninstall(release, { milliseconds: applyTime(context) * 0.6 });
  if (first.ended === 'ok') return;
  const why = safe(errorOf(first.stderr) || 'it took too long');
  const second = await actions.uninstall(release, {
    milliseconds: recoveryTime(context),
    hooks: false,
  });
  if (second.ended !== 'ok') {
    const message = safe(`the release could not be removed: ${errorOf(second.stderr) || why}`);
    throw new TransientError('UninstallFailed', message);
  }
  const message = `the release was removed without its hooks, as with them it failed: ${why}`;
  await context.announce({ reason: 'HooksSkipped', message, type: 'Warning' });
}

/** Helm leaves behind what hooks have made, as no part of the release. */
export async function removeHooks(
  revision: Revision,
  rules: ManifestRules,
  owner: Owner,
  { context }: Work,
): Promise<void> {
  const { kube, log } = context;
  const record = await recordOf(revision);
  const hooks = (record?.hooks ?? []).flatMap((text): readonly ReleaseObject[] =>
    readStoredManifest(text, rules),
  );
  const found = await readLive(hooks, { kube, signal: AbortSignal.timeout(HOOK_MILLISECONDS) });
  await concurrently(found, CALLS_AT_ONCE, async ({ object, live }) => {
    if (!live || !isMarkedBy(owner, live)) return;
    const { uid } = live.metadata;
    await kube.delete(object.ref, { uid, propagationPolicy: 'Background' });
    log.info('child removed', { child: describeRef(object.ref) });
  });
}

/** Beside the signal, which may have aborted already when a release is taken back. */
const HOOK_MILLISECONDS = 5_000;
