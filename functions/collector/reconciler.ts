import { requestedReconcile } from '../../runtime/annotations.ts';
import type { HelmReleases, WantedRelease } from '../../runtime/helm/release.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { Reconciler, Result } from '../../runtime/reconcile.ts';
import { chartFetched, releaseStep } from './announcements.ts';
import type { ChartSource } from './chart-source.ts';
import { concealed } from './plan.ts';
import { possibleReleases, type Run, removeAll, removeIfStray } from './removal.ts';
import type { Settings } from './settings.ts';
import { readSpec } from './spec.ts';
import {
  deployed,
  describeFailure,
  installedFrom,
  intending,
  isKnown,
  otherReleases,
  statusOf,
  unchanged,
} from './status.ts';
import { ensureNamespace, type Tenant } from './tenant-namespace.ts';
import { wantedRelease } from './wanted.ts';

/** What this operator needs from the world. */
export interface Ports {
  readonly charts: ChartSource;
  readonly releases: HelmReleases;
  readonly settings: Settings;
}

export function createReconciler({ charts, releases, settings }: Ports): Reconciler {
  return {
    describeFailure,
    reconcile: async (object, context) => {
      const run = { object, releases, context };
      const spec = readSpec(object.spec, settings);
      const installed = installedFrom(spec.chart, object);
      const askNow = isAskedFor(object);
      const chart = await charts.open(spec.chart, { installed, askNow, signal: context.signal });
      const wanted = wantedRelease(spec, chart, object);
      if (context.dryRun) return planFor(wanted, spec.tenant, run);

      const known = isKnown(wanted, object);
      if (chart.digest !== installed?.digest && (chart.isNew || !known))
        await context.announce(chartFetched(spec.chart, chart));
      await ensureNamespace(spec.tenant, context);
      // From here on a release may be there. That is written down first, so that it is found again whatever happens.
      if (!known) {
        const verdict = await context.checkpoint(intending(object, wanted));
        if (!verdict.goOn) return unchanged(object);
      }
      await leaveOthers(wanted, run);
      const report = await releases.reconcile(wanted, context);
      if (known && report.action === 'installed' && (await removeIfStray(wanted, run)))
        return unchanged(object);
      const step = releaseStep(report);
      if (step) await context.announce(step);
      return deployed(report, spec.chart, chart);
    },
    finalize: async (object, context) => {
      const gone = possibleReleases(object, settings);
      const plan = await removeAll(gone, { object, releases, context });
      return { status: statusOf(object), conditions: [], plan };
    },
  };
}

/** Somebody wants a look now, perhaps because of a new chart in the old place. */
const isAskedFor = ({ metadata, status }: KubeObject): boolean => {
  const asked = requestedReconcile(metadata);
  return asked !== undefined && asked !== status?.lastHandledReconcileAt;
};

/** Ends a move: the releases in other places go. What would be refused in the new place is refused before, while they still run. */
async function leaveOthers(wanted: WantedRelease, run: Run): Promise<void> {
  const others = otherReleases(wanted, run.object);
  if (others.length === 0) return;
  await run.releases.reconcile(wanted, { ...run.context, dryRun: true });
  await removeAll(others, run);
}

async function planFor(wanted: WantedRelease, tenant: Tenant, run: Run): Promise<Result> {
  const { object, releases, context } = run;
  const plan = [
    ...(await ensureNamespace(tenant, context)),
    ...(await removeAll(otherReleases(wanted, object), run)),
    ...(await releases.reconcile(wanted, context)).plan,
  ];
  return { ...unchanged(object), plan: plan.map(concealed) };
}
