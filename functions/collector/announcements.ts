import type { ReleaseReport } from '../../runtime/helm/release.ts';
import type { Announcement } from '../../runtime/reconcile.ts';
import type { ChartVersion } from './chart-source.ts';
import { type ChartLocation, locationText } from './chart-store.ts';
import { nameOf } from './status.ts';

const reasons: Readonly<Record<ReleaseReport['action'], string | undefined>> = {
  installed: 'ReleaseInstalled',
  upgraded: 'ReleaseUpgraded',
  repaired: 'ReleaseRepaired',
  none: undefined,
};

export const chartFetched = (location: ChartLocation, { digest }: ChartVersion): Announcement => ({
  reason: 'ChartFetched',
  message: `chart ${locationText(location)} was read, sha256 ${digest}`,
});

/** Undefined if nothing was done. */
export function releaseStep(report: ReleaseReport): Announcement | undefined {
  const reason = reasons[report.action];
  const message = `release ${nameOf(report)} was ${report.action}, revision ${report.revision}`;
  return reason === undefined ? undefined : { reason, message };
}
