import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { helmOperators } from '../../functions/helm/operator.ts';
import { myownshell } from '../../functions/myownshell/operator.ts';
import { applyManifests } from '../../local/manifests.ts';
import type { Kind } from '../../runtime/operator.ts';
import {
  type Any,
  type ChildrenSystem,
  deploymentKind,
  podKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';
import { until } from '../helpers/until.ts';

const minimart = helmOperators.find(({ name }) => name === 'minimart');
if (!minimart) throw new Error('there must be an operator minimart');
const { kind } = minimart;
const serviceKind: Kind = { group: '', version: 'v1', kind: 'Service', plural: 'services' };
const secretKind: Kind = { ...serviceKind, kind: 'Secret', plural: 'secrets' };
const isTrue = ({ status }: { readonly status: string }): boolean => status === 'True';
const isFalse = ({ status }: { readonly status: string }): boolean => status === 'False';

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(minimart);
});
afterAll(() => system?.stop());

const readyMart = async (name: string, spec: object = {}) => {
  await system.create(name, spec);
  return system.reachesCondition(name, isTrue);
};

/** `version status` of each, oldest first. */
const revisionsOf = async (name: string): Promise<readonly string[]> =>
  (await system.list(secretKind, `owner=helm,name=${name}`))
    .map(({ metadata: { labels = {} } }) => labels)
    .toSorted((one, other) => Number(one['version']) - Number(other['version']))
    .map((labels) => `${labels['version']} ${labels['status']}`);

const imageOf = ({ spec }: Any): string => spec.template.spec.containers[0].image;

describe('the sample', () => {
  const name = 'minimart-sample';

  test('becomes a Deployment of one pod and a Service on port 80, and is Ready when the pod is', async () => {
    const file = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'minimart.yaml');
    const sample = parse(await readFile(file, 'utf8')) as Any;
    await readyMart(sample.metadata.name, sample.spec);
    const mart = await system.get(name);
    expect(mart?.metadata.finalizers).toEqual(['helm.sdk.operatorframework.io/uninstall-release']);
    expect(mart?.status).toMatchObject({
      observedGeneration: 1,
      deployedRelease: { name, manifest: expect.stringMatching(/^[\da-f]{32}$/), revision: 1 },
    });
    expect(await system.conditionOf(name, 'Deployed')).toMatchObject({
      status: 'True',
      reason: 'InstallSuccessful',
    });
    expect((await system.find(deploymentKind, name))?.spec.replicas).toBe(1);
    const service = await system.find(serviceKind, name);
    expect(service?.spec).toMatchObject({ type: 'NodePort', ports: [{ port: 80 }] });
    const pods = await system.list(podKind, `app.kubernetes.io/instance=${name}`);
    expect(pods).toHaveLength(1);
  });

  test('is not written to again while nothing changes', async () => {
    await system.isQuiet();
    const before = (await system.writes()).length;
    await system.byHand(name);
    await system.byHand(name);
    expect((await system.writes()).slice(before)).toEqual([]);
    expect(await revisionsOf(name)).toEqual(['1 deployed']);
  });

  test('is upgraded once for an edit', async () => {
    await system.patch(name, { spec: { replicaCount: 2, image: { tag: '1.28' } } });
    await system.reaches(deploymentKind, name, (live) => imageOf(live) === 'nginx:1.28');
    await system.reachesCondition(name, isTrue);
    await system.byHand(name);
    expect(await revisionsOf(name)).toEqual(['1 superseded', '2 deployed']);
  });

  test('is repaired after an edit and a deletion by hand; what a user has added stays', async () => {
    await system.patchChild(deploymentKind, name, {
      metadata: { annotations: { note: 'keep' } },
      spec: { replicas: 5 },
    });
    await system.reaches(deploymentKind, name, ({ spec }) => spec.replicas === 2);
    const deployment = await system.find(deploymentKind, name);
    const evil = { ...deployment?.spec.template.spec.containers[0], image: 'evil:1' };
    const spec = { template: { spec: { containers: [evil] } } };
    await system.patchChild(deploymentKind, name, { spec });
    await system.reaches(deploymentKind, name, (live) => imageOf(live) === 'nginx:1.28');
    const before = await system.find(serviceKind, name);
    await system.remove(serviceKind, name);
    await system.reaches(
      serviceKind,
      name,
      ({ metadata }) => metadata.uid !== before?.metadata.uid,
    );
    await system.patchChild(serviceKind, name, {
      spec: { selector: { 'app.kubernetes.io/name': 'x' } },
    });
    await system.reaches(
      serviceKind,
      name,
      (live) => live.spec.selector['app.kubernetes.io/name'] === 'minimart',
    );
    await system.patchChild(serviceKind, name, { spec: { ports: [{ name: 'http', port: 8080 }] } });
    await system.reaches(
      serviceKind,
      name,
      ({ spec }) => spec.ports.length === 1 && spec.ports[0].port === 80,
    );
    const repaired = await system.find(deploymentKind, name);
    expect(repaired?.metadata.annotations).toMatchObject({ note: 'keep' });
    expect(await revisionsOf(name)).toHaveLength(2);
  });

  test('is not Ready while a pod is missing, and is again afterwards', async () => {
    await system.reachesCondition(name, isTrue);
    await system.cordon(true);
    const [pod] = await system.list(podKind, `app.kubernetes.io/instance=${name}`);
    await system.remove(podKind, pod?.metadata.name ?? '');
    const waiting = await system.reachesCondition(name, isFalse);
    expect(waiting.message).toMatch(`Deployment default/${name}: 1 of 2 pods are ready`);
    await system.cordon(false);
    await system.reachesCondition(name, isTrue);
  });

  test('leaves nothing when it is deleted', async () => {
    await system.delete(name);
    await system.isGone(kind, name);
    await system.isGone(deploymentKind, name);
    await system.isGone(serviceKind, name);
    expect(await revisionsOf(name)).toEqual([]);
  });
});

describe('values that do not fit', () => {
  test('are told by their paths, and nothing is installed', async () => {
    await system.create('misfit', { replicaCount: 'many', service: { port: 0 } });
    const told = await system.reachesCondition('misfit', isFalse);
    expect(told).toMatchObject({ reason: 'InvalidValues' });
    expect(told.message).toMatch(/replicaCount.*service[./]port/s);
    expect(await system.find(deploymentKind, 'misfit')).toBeUndefined();
    expect(await revisionsOf('misfit')).toEqual([]);
  });

  test('of an upgrade leave the old release as it is', async () => {
    await readyMart('steady', { replicaCount: 1 });
    await system.patch('steady', { spec: { service: { nodePort: 5 } } });
    await system.reachesCondition('steady', isTrue, 'ReleaseFailed');
    expect(await system.conditionOf('steady', 'Deployed')).toMatchObject({ status: 'True' });
    expect(await system.conditionOf('steady')).toMatchObject({ reason: 'ReleaseFailed' });
    expect((await revisionsOf('steady')).at(-1)).toMatch(/ deployed$/);
    await system.patch('steady', { spec: { service: { nodePort: 0 } } });
    await system.reachesCondition('steady', isTrue);
    expect(await system.conditionOf('steady', 'ReleaseFailed')).toMatchObject({ status: 'False' });
  });
});

test('many at once are all deployed', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `mart-${index}`);
  await Promise.all(names.map((name) => system.create(name, {})));
  for (const name of names) await system.reachesCondition(name, isTrue, 'Deployed', 180);
  for (const name of names) await system.reachesCondition(name, isTrue, 'Ready', 180);
  expect(new Set((await Promise.all(names.map(revisionsOf))).flat())).toEqual(
    new Set(['1 deployed']),
  );
});

test('while its CRD is not installed others run, and it starts when it is there again', async () => {
  const crd = {
    kind: {
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
    },
    namespace: '',
    name: `${kind.plural}.${kind.group}`,
  };
  await system.admin.delete(crd, {});
  await until(async () => ((await system.admin.get(crd)) === undefined ? true : undefined), {
    seconds: 60,
    what: async () => 'the CRD to go, with all objects',
  });
  const shell = { kind: myownshell.kind, namespace: 'default', name: 'meanwhile' };
  await system.admin.create(shell.kind, 'default', {
    metadata: { name: shell.name },
    spec: { size: 1 },
  });
  await system.reaches(deploymentKind, shell.name, ({ status }) => status?.availableReplicas === 1);
  await applyManifests(system.admin);
  await readyMart('afterwards');
});
