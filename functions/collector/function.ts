import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentNames } from '../../runtime/aws/environment.ts';
import { createReconcileHandler } from '../../runtime/handler.ts';
import { createHelmReleases } from '../../runtime/helm/releases.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { createChartSource } from './chart-source.ts';
import { createLazyChartStore } from './lazy-charts.ts';
import { collector } from './operator.ts';
import { createReconciler } from './reconciler.ts';
import { readSettings } from './settings.ts';

/** Where the Lambda layer has it. */
const LAYER_HELM = '/opt/helm/helm';

export const createFunction: CreateFunction = (platform) => {
  const { environment, clock } = platform;
  const reconciler = createReconciler({
    settings: readSettings(environment),
    charts: createChartSource({
      store: createLazyChartStore(environment, clock),
      clock,
      folder: join(tmpdir(), `podless-charts-${randomUUID()}`),
    }),
    releases: createHelmReleases({
      path: environment[environmentNames.helm] ?? LAYER_HELM,
      connectionOf: (cluster) => platform.kubeConnection(cluster),
    }),
  });
  return createReconcileHandler(collector, reconciler, platform);
};
