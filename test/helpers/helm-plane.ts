import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { watches } from '../../functions/helm/generated/watches.ts';
import { operatorOf } from '../../functions/helm/operator.ts';
import { createReconciler } from '../../functions/helm/reconciler.ts';
import type { Watch } from '../../functions/helm/watch.ts';
import { startControlPlane } from '../../local/control-plane/index.ts';
import { resolveHelm } from '../../local/helm-binary.ts';
import { applyManifests } from '../../local/manifests.ts';
import type { Clock } from '../../runtime/clock.ts';
import { openChart } from '../../runtime/helm/open-chart.ts';
import { createHelmReleases } from '../../runtime/helm/releases.ts';
import type { KubeObject, ObjectRef } from '../../runtime/kube/objects.ts';
import { groupOf } from '../../runtime/kube/rbac.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import type { Kind } from '../../runtime/operator.ts';
import { isWrite, readAudit } from './runtime-audit.ts';
import { connectionOf } from './runtime-plane.ts';
import { createWorld } from './runtime-world.ts';
import { until } from './until.ts';

const run = promisify(execFile);

const core = (kind: string, plural: string): Kind => ({ group: '', version: 'v1', kind, plural });
export const secrets = core('Secret', 'secrets');
export const configMaps = core('ConfigMap', 'configmaps');
export const services = core('Service', 'services');
export const jobs: Kind = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs' };
const namespaces = core('Namespace', 'namespaces');
const events: Kind = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' };

export interface HelmWorldOptions {
  /** How long a run may take. Default 60. */
  readonly seconds?: number;
  readonly clock?: Clock;
  /** Changes of the watch. */
  readonly watch?: Partial<Watch>;
}

/** A real API server with the rights of the Minimart operator, and its handler with charts of the test's own. */
export async function startHelmPlane() {
  const [watch] = watches;
  if (!watch) throw new Error('there must be a watch');
  const { kind, name: operatorName } = operatorOf(watch);
  const user = `podless-${operatorName}`;
  const users = [{ name: user, groups: [groupOf(operatorName)] }];
  const [plane, helmPath] = await Promise.all([
    startControlPlane({ users, auditLog: true }),
    resolveHelm(),
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'podless-test-helm-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, plane.kubeconfig('admin'), { mode: 0o600 });
  const admin = createKubeClient(connectionOf(plane, 'admin'));
  await applyManifests(admin);
  const kube = createKubeClient(connectionOf(plane, user));
  const ref = (name: string, namespace = 'default'): ObjectRef => ({ kind, namespace, name });
  const may = () =>
    kube.get(ref('nobody')).then(
      () => true as const,
      () => undefined,
    );
  await until(may, { seconds: 30, what: async () => 'RBAC to take effect' });
  const releases = createHelmReleases({
    path: helmPath,
    connectionOf: async () => connectionOf(plane, user),
  });

  return {
    admin,
    kube,
    kind,
    ref,
    releases,
    /** The operator, with a chart in the place of its own. */
    world: (chartFolder: string, options: HelmWorldOptions = {}) => {
      const changed = { ...watch, ...options.watch };
      return createWorld({
        operator: operatorOf(changed),
        kube,
        reconciler: createReconciler(changed, {
          releases,
          openChart: () => openChart(chartFolder),
        }),
        ...(options.seconds !== undefined && { seconds: options.seconds }),
        ...(options.clock && { clock: options.clock }),
      });
    },
    create: (name: string, spec: object = {}, metadata: object = {}) =>
      admin.create(kind, 'default', { metadata: { name, ...metadata }, spec }),
    patch: (name: string, body: object) => admin.mergePatch(ref(name), body),
    get: (of: Kind, name: string) => admin.get({ kind: of, namespace: 'default', name }),
    statusOf: async (name: string) =>
      ((await admin.get(ref(name)))?.status ?? {}) as Readonly<Record<string, unknown>>,
    /** The revisions that Helm has of a release, as `version status`, oldest first. */
    revisions: async (release: string, namespace = 'default'): Promise<readonly string[]> => {
      const labelSelector = `owner=helm,name=${release}`;
      const { items } = await admin.list(secrets, { limit: 100, namespace, labelSelector });
      return (items as KubeObject[])
        .map(({ metadata: { labels = {} } }) => labels)
        .toSorted((one, other) => Number(one['version']) - Number(other['version']))
        .map((labels) => `${labels['version']} ${labels['status']}`);
    },
    eventsOf: async (name: string) => {
      const { items } = await admin.list(events, { limit: 5_000 });
      return (items as { reason: string; note: string; regarding: { name: string } }[]).filter(
        ({ regarding }) => regarding.name === name,
      );
    },
    makeNamespace: (name: string) => admin.create(namespaces, '', { metadata: { name } }),
    /** As somebody at a keyboard would. */
    helm: (...args: readonly string[]) =>
      run(helmPath, args, { env: { KUBECONFIG: kubeconfig, HOME: folder, PATH: '/usr/bin:/bin' } }),
    helmPath,
    kubeconfig,
    /** Writes of the operator to the API server so far, but for Events. */
    writes: async () =>
      (await readAudit(plane.auditLogFile)).filter(
        (entry) => isWrite(entry) && entry.objectRef?.resource !== 'events',
      ),
    requests: () => readAudit(plane.auditLogFile),
    stop: async () => {
      await plane.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type HelmPlane = Awaited<ReturnType<typeof startHelmPlane>>;
