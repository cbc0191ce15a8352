import { TerminalError } from '../errors.ts';
import type { KubeConnection } from '../kube/transport.ts';
import type { ReconcileContext } from '../reconcile.ts';
import { applyRelease } from './apply-release.ts';
import { createRepairDrift, type RepairDrift } from './drift.ts';
import { stillFailed } from './failed-release.ts';
import { findRelease, refuseWhileBusy } from './find-release.ts';
import { createHelmActions, type HelmActions } from './helm-actions.ts';
import { createHelm, type Helm, type HelmOptions } from './helm-command.ts';
import { isUpToDate, keepRelease } from './keep-release.ts';
import { recover } from './recover-release.ts';
import type { HelmReleases, ReleaseReport, WantedRelease } from './release.ts';
import { wantedDigest } from './release-labels.ts';
import { noteRemaining } from './remaining-release.ts';
import { removeRelease } from './remove-release.ts';
import { createSafeMessage, type SafeMessage } from './safe-message.ts';

export interface HelmReleasesProps extends HelmOptions {
  /** How to reach a cluster, by its name. */
  readonly connectionOf: (cluster: string) => Promise<KubeConnection>;
}

/** What one run works with. */
export interface Work {
  readonly helm: Helm;
  readonly actions: HelmActions;
  readonly repairDrift: RepairDrift;
  readonly context: ReconcileContext;
  /** For messages that may quote the values. */
  readonly safe: SafeMessage;
}

export function createHelmReleases({ connectionOf, ...options }: HelmReleasesProps): HelmReleases {
  const helm = createHelm(options);
  const repairDrift = createRepairDrift();
  const workIn = (context: ReconcileContext, values: object): Work => {
    const actions = createHelmActions(helm, () => connectionOf(context.cluster));
    return { helm, actions, repairDrift, context, safe: createSafeMessage(values) };
  };
  return {
    reconcile: async (wanted, context) => {
      try {
        return await reconcileRelease(wanted, workIn(context, wanted.values));
      } catch (error) {
        await noteRemaining(error, wanted, context);
        throw error;
      }
    },
    remove: (release, owner, context) => removeRelease(release, owner, workIn(context, {})),
  };
}

async function reconcileRelease(wanted: WantedRelease, work: Work): Promise<ReleaseReport> {
  const { context } = work;
  refuseBadName(wanted);
  const digest = wantedDigest(wanted);
  const found = await findRelease(wanted, wanted.owner, context);
  if (found) refuseWhileBusy(found, wanted, context);
  const healthy = found?.status === 'deployed';
  const release = found && !healthy && !context.dryRun ? await recover(wanted, work) : found;
  if (release && (await isUpToDate(release, digest))) return keepRelease(release, wanted, work);
  const failure = stillFailed(digest, wanted, context);
  if (!failure) return applyRelease({ wanted, digest, before: release }, work);
  // What is there while the new one does not work is looked after all the same.
  if (release && !context.dryRun) await keepRelease(release, wanted, work);
  throw failure;
}

/** Helm's own rule, told by us in terms of the object. */
function refuseBadName({ name }: WantedRelease): void {
  if (name.length <= 53 && /^[\da-z]([\d.a-z-]*[\da-z])?$/.test(name)) return;
  const expected = 'at most 53 characters, lower-case letters, digits, dashes and dots';
  const message = `the name of a Helm release must be ${expected}, got ${JSON.stringify(name)} (${name.length})`;
  throw new TerminalError('InvalidName', message);
}
