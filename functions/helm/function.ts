import { join } from 'node:path';
import { environmentNames } from '../../runtime/aws/environment.ts';
import { createReconcileHandler } from '../../runtime/handler.ts';
import { openChart } from '../../runtime/helm/open-chart.ts';
import type { Chart } from '../../runtime/helm/release.ts';
import { createHelmReleases } from '../../runtime/helm/releases.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { findChartRoot } from './chart-root.ts';
import { watches } from './generated/watches.ts';
import { operatorOf } from './operator.ts';
import { createReconciler } from './reconciler.ts';
import type { Watch } from './watch.ts';

/** Where the Lambda layer has it. */
const LAYER_HELM = '/opt/helm/helm';

/** All operators out of charts share this code; the environment says which of them this function is. */
export const createFunction: CreateFunction = (platform) => {
  const { environment } = platform;
  const watch = watchOf(environment[environmentNames.operator]);
  const chart = join(findChartRoot(environment), watch.chart);
  let opened: Promise<Chart> | undefined;
  const reconciler = createReconciler(watch, {
    releases: createHelmReleases({
      path: environment[environmentNames.helm] ?? LAYER_HELM,
      connectionOf: (cluster) => platform.kubeConnection(cluster),
    }),
    openChart: () => {
      // A failure is not kept: the next look may find it.
      opened ??= openChart(chart).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
  });
  return createReconcileHandler(operatorOf(watch), reconciler, platform);
};

function watchOf(name: string | undefined): Watch {
  const found = watches.find((watch) => operatorOf(watch).name === name);
  if (found) return found;
  const known = watches.map((watch) => operatorOf(watch).name).join(', ');
  throw new Error(
    `environment variable ${environmentNames.operator} must be one of ${known}, got ${String(name)}`,
  );
}
