import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChartSource } from '../../functions/collector/chart-source.ts';
import { collector } from '../../functions/collector/operator.ts';
import { createReconciler } from '../../functions/collector/reconciler.ts';
import { createChartStore } from '../../functions/collector/s3-charts.ts';
import { readSettings } from '../../functions/collector/settings.ts';
import { startControlPlane } from '../../local/control-plane/index.ts';
import { resolveHelm } from '../../local/helm-binary.ts';
import { applyManifests } from '../../local/manifests.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { HelmReleases } from '../../runtime/helm/release.ts';
import { createHelmReleases } from '../../runtime/helm/releases.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { groupOf } from '../../runtime/kube/rbac.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import { s3Client, startTestS3 } from './collector-s3.ts';
import { kinds } from './collector-system.ts';
import { createFaultPoint, type FaultPoint } from './runtime-crash.ts';
import { connectionOf } from './runtime-plane.ts';
import { createTestClock, createWorld } from './runtime-world.ts';
import { until } from './until.ts';

/** A real API server, S3 and Helm, and the Collector's handler with its own rights; nothing wakes it but the test. */
export async function startCollectorPlane() {
  const user = `podless-${collector.name}`;
  const users = [{ name: user, groups: [groupOf(collector.name)] }];
  const [plane, helmPath, s3, folder] = await Promise.all([
    startControlPlane({ users }),
    resolveHelm(),
    startTestS3(),
    mkdtemp(join(tmpdir(), 'podless-test-collector-')),
  ]);
  const admin = createKubeClient(connectionOf(plane, 'admin'));
  await applyManifests(admin);
  const kube = createKubeClient(connectionOf(plane, user));
  const ref = (name: string) => ({ kind: collector.kind, namespace: 'default', name });
  const may = () =>
    kube.get(ref('nobody')).then(
      () => true as const,
      () => undefined,
    );
  await until(may, { seconds: 30, what: async () => 'RBAC to take effect' });
  const client = s3Client(s3.url);
  const charts = createChartSource({
    store: createChartStore({ client, clock: systemClock }),
    clock: systemClock,
    folder,
  });
  const helm = createHelmReleases({
    path: helmPath,
    connectionOf: async () => connectionOf(plane, user),
  });
  return {
    admin,
    s3,
    helm,
    ref,
    get: (name: string) => admin.get(ref(name)),
    create: (name: string, spec: object) =>
      admin.create(collector.kind, 'default', { metadata: { name }, spec }),
    patch: (name: string, spec: object) => admin.mergePatch(ref(name), { spec }),
    /** The operator, on releases of the test's choice. */
    world: (releases: HelmReleases = helm, fault: FaultPoint = createFaultPoint()) =>
      createWorld({
        operator: collector,
        kube: fault.wrapKube(kube),
        reconciler: createReconciler({ charts, releases, settings: readSettings({}) }),
        wrapInbox: fault.wrapInbox,
        clock: createTestClock(),
      }),
    /** Releases that Helm has records of, as `namespace/name`. */
    releaseNames: async (): Promise<readonly string[]> => {
      const { items } = await admin.list(kinds.secret, { labelSelector: 'owner=helm', limit: 500 });
      const names = (items as KubeObject[]).map(
        ({ metadata: { namespace, labels } }) => `${namespace}/${labels?.['name']}`,
      );
      return [...new Set(names)];
    },
    stop: async () => {
      client.destroy();
      await plane.stop();
      await s3.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type CollectorPlane = Awaited<ReturnType<typeof startCollectorPlane>>;
