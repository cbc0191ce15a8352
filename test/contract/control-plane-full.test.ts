import { AppsV1Api, BatchV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../local/control-plane/index.ts';

const namespace = 'default';
const patience = { timeout: 30_000, interval: 100 };
const containers = [{ name: 'main', image: 'example' }];

let plane: ControlPlane;
let apps: AppsV1Api;
let batch: BatchV1Api;
let core: CoreV1Api;

beforeAll(async () => {
  plane = await startControlPlane({ users: [], full: true });
  const config = new KubeConfig();
  config.loadFromString(plane.kubeconfig('admin'));
  apps = config.makeApiClient(AppsV1Api);
  batch = config.makeApiClient(BatchV1Api);
  core = config.makeApiClient(CoreV1Api);
}, 15 * 60_000);

afterAll(() => plane?.stop());

const podsOf = async (labelSelector: string) =>
  (await core.listNamespacedPod({ namespace, labelSelector })).items;

test('a Deployment becomes ready, and its pods go with it', async () => {
  const labels = { app: 'web' };
  await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    },
  });
  await expect
    .poll(
      async () =>
        (await apps.readNamespacedDeployment({ namespace, name: 'web' })).status?.readyReplicas,
      patience,
    )
    .toBe(3);
  expect(await podsOf('app=web')).toHaveLength(3);
  await apps.deleteNamespacedDeployment({ namespace, name: 'web' });
  await expect.poll(() => podsOf('app=web'), patience).toEqual([]);
}, 60_000);

test('a Job completes, and its pods go with it', async () => {
  await batch.createNamespacedJob({
    namespace,
    body: {
      metadata: { name: 'once' },
      spec: { template: { spec: { restartPolicy: 'Never', containers } } },
    },
  });
  await expect
    .poll(
      async () => (await batch.readNamespacedJob({ namespace, name: 'once' })).status?.succeeded,
      patience,
    )
    .toBe(1);
  await batch.deleteNamespacedJob({ namespace, name: 'once', propagationPolicy: 'Foreground' });
  await expect.poll(() => podsOf('job-name=once'), patience).toEqual([]);
}, 60_000);

test('deleting an owner removes its child, and a namespace all that is in it', async () => {
  await core.createNamespace({ body: { metadata: { name: 'family' } } });
  const owner = await core.createNamespacedConfigMap({
    namespace: 'family',
    body: { metadata: { name: 'owner' } },
  });
  const uid = owner.metadata?.uid ?? '';
  await core.createNamespacedConfigMap({
    namespace: 'family',
    body: {
      metadata: {
        name: 'child',
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }],
      },
    },
  });
  await core.deleteNamespacedConfigMap({ namespace: 'family', name: 'owner' });
  const names = async () =>
    (await core.listNamespacedConfigMap({ namespace: 'family' })).items.map(
      ({ metadata }) => metadata?.name,
    );
  await expect.poll(names, patience).not.toContain('child');
  await core.deleteNamespace({ name: 'family' });
  const namespaces = async () =>
    (await core.listNamespace()).items.map(({ metadata }) => metadata?.name);
  await expect.poll(namespaces, patience).not.toContain('family');
}, 60_000);
