import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readChildren } from '../../runtime/children/read.ts';
import { removeChildren, syncChildren } from '../../runtime/children/sync.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import {
  ANNOTATION_APPLIED,
  ANNOTATION_OWNER,
  childrenOf,
  LABEL_OPERATOR,
} from '../../runtime/labels.ts';
import {
  type ChildrenWorld,
  childOf,
  configMapChild,
  deploymentChild,
  deploymentKind,
  OPERATOR,
  refTo,
  serviceKind,
  startChildrenWorld,
} from '../helpers/children-world.ts';
import { configMapKind } from '../helpers/runtime-widget.ts';

let world: ChildrenWorld;

beforeAll(async () => {
  world = await startChildrenWorld();
});

afterAll(() => world?.stop());

/** A Widget with a Deployment and a ConfigMap of its name, as a reconciler would keep them. */
async function family(name: string) {
  const owner = await world.widgets.create(name);
  const sync = (replicas = 2, data: Readonly<Record<string, string>> = { replicas: '2' }) =>
    syncChildren(
      owner,
      [childOf(owner, deploymentChild(name, replicas)), childOf(owner, configMapChild(name, data))],
      world.context(),
    );
  await sync();
  const mustGet = async (kind = deploymentKind): Promise<KubeObject> => {
    const live = await world.admin.get(refTo(kind, name));
    if (!live) throw new Error(`there must be a ${kind.kind} ${name}`);
    return live;
  };
  return { owner, sync, mustGet };
}

const actions = (synced: Awaited<ReturnType<typeof syncChildren>>) =>
  synced.map(({ plan }) => plan.action);

describe('children on a real API server', () => {
  test('are made with label, controller, owner by name, and only our own fields', async () => {
    const { owner, mustGet } = await family('made');
    const { uid } = owner.metadata;
    for (const kind of [deploymentKind, configMapKind]) {
      expect((await mustGet(kind)).metadata).toMatchObject({
        labels: { [LABEL_OPERATOR]: OPERATOR },
        annotations: {
          [ANNOTATION_OWNER]: 'default/made',
          [ANNOTATION_APPLIED]: expect.stringMatching(/^[0-9a-f]{32}$/),
        },
        ownerReferences: [
          { kind: 'Widget', name: 'made', uid, controller: true, blockOwnerDeletion: true },
        ],
      });
    }
    expect(await mustGet(configMapKind)).toMatchObject({ data: { replicas: '2' } });
  });

  test('that are as they should be are not written again, however the API server spells them', async () => {
    const { sync, mustGet } = await family('quiet');
    const before = await mustGet();
    const writes = await world.writesDuring(async () => {
      expect(actions(await sync())).toEqual(['none', 'none']);
      expect(actions(await sync())).toEqual(['none', 'none']);
    });
    expect(writes).toEqual([]);
    expect((await mustGet()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('follow the owner: what changes is written, and nothing else', async () => {
    const { sync, mustGet } = await family('grown');
    const writes = await world.writesDuring(async () => {
      expect(actions(await sync(5))).toEqual(['change', 'none']);
    });
    expect(writes).toEqual(['patch deployments/grown']);
    expect(await mustGet()).toMatchObject({ spec: { replicas: 5 } });
  });

  const container = (change: object) => ({
    spec: { template: { spec: { containers: [{ name: 'app', ...change }] } } },
  });
  test.each([
    ['replicas', { spec: { replicas: 9 } }],
    ['a label', { metadata: { labels: { app: 'other' } } }],
    ['the label of the operator', { metadata: { labels: { [LABEL_OPERATOR]: null } } }],
    ['an annotation', { metadata: { annotations: { 'example.com/team': 'red' } } }],
    ['the owner it names', { metadata: { annotations: { [ANNOTATION_OWNER]: 'a/b' } } }],
    ['the controller', { metadata: { ownerReferences: null } }],
    [
      'all that tells whose it is',
      { metadata: { ownerReferences: null, labels: null, annotations: null } },
    ],
    ['the image', container({ image: 'nginx', command: ['sh', '-c', 'sleep 1000'] })],
    ['the command', container({ image: 'busybox:latest', command: ['sh'] })],
    ['a variable and the limits, gone', container({ image: 'busybox:latest' })],
    [
      'the sort of a volume',
      {
        spec: {
          template: {
            spec: { volumes: [{ name: 'scratch', hostPath: { path: '/etc', type: '' } }] },
          },
        },
      },
    ],
    ['the network', { spec: { template: { spec: { hostNetwork: true } } } }],
  ])('are repaired where somebody has edited %s', async (what, edit) => {
    const name = `edited-${what.replaceAll(/[^a-z]/g, '-')}`.slice(0, 50).replace(/-+$/, '');
    const { sync, mustGet } = await family(name);
    const { spec, metadata } = await mustGet();
    await world.admin.mergePatch(refTo(deploymentKind, name), edit);
    expect(actions(await sync())).toEqual(['change', 'none']);
    const repaired = await mustGet();
    expect(repaired.spec).toEqual(spec);
    const { labels, annotations, ownerReferences } = metadata;
    expect(repaired.metadata).toMatchObject({ labels, annotations, ownerReferences });
    expect(await world.writesDuring(sync)).toEqual([]);
  });

  test('keep what others have added, and lose what is no longer wanted', async () => {
    const { owner, mustGet } = await family('shared');
    const sync = (data: Readonly<Record<string, string>>) =>
      syncChildren(owner, [childOf(owner, configMapChild('shared', data))], world.context());
    await world.admin.apply(
      refTo(configMapKind, 'shared'),
      {
        metadata: {
          name: 'shared',
          labels: { theirs: 'yes' },
          annotations: { 'theirs.example.com/x': 'y' },
        },
        data: { theirs: '1' },
      },
      { fieldManager: 'somebody-else' },
    );
    expect(await world.writesDuring(() => sync({ replicas: '2' }))).toEqual([]);
    await sync({ colour: 'green' });
    const live = (await mustGet(configMapKind)) as KubeObject & { data: object };
    expect(live.data).toEqual({ theirs: '1', colour: 'green' });
    expect(live.metadata).toMatchObject({
      labels: { theirs: 'yes', [LABEL_OPERATOR]: OPERATOR },
      annotations: { 'theirs.example.com/x': 'y' },
    });
    expect(await world.writesDuring(() => sync({ colour: 'green' }))).toEqual([]);
  });

  test('let others add containers, volumes, ports and owners', async () => {
    const { sync, mustGet } = await family('injected');
    const stranger = await world.widgets.create('stranger-of-injected');
    const { apiVersion, kind, metadata } = stranger;
    const template = {
      spec: {
        volumes: [{ name: 'theirs', emptyDir: {} }],
        containers: [
          {
            name: 'app',
            ports: [{ containerPort: 9090, protocol: 'TCP' }],
            volumeMounts: [{ name: 'scratch', mountPath: '/theirs' }],
          },
          { name: 'sidecar', image: 'envoy' },
        ],
      },
    };
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
    await world.admin.apply(
      refTo(deploymentKind, 'injected'),
      { metadata: { name: 'injected', ownerReferences }, spec: { template } },
      { fieldManager: 'somebody-else' },
    );
    const before = await mustGet();
    expect(await world.writesDuring(sync)).toEqual([]);
    await sync(7);
    expect((await mustGet()).spec).toEqual({ ...(before.spec as object), replicas: 7 });
    expect((await mustGet()).metadata.ownerReferences).toHaveLength(2);
  });

  test('are repaired where an edit stands in the way of what we apply', async () => {
    const owner = await world.widgets.create('served');
    const ports = [{ name: 'http', port: 80, targetPort: 80 }];
    const content = { spec: { selector: { app: 'x' }, ports } };
    const manifests = [childOf(owner, { kind: serviceKind, name: 'served', content })];
    const ref = refTo(serviceKind, 'served');
    const sync = (over = {}) => syncChildren(owner, manifests, world.context(over));
    await sync();
    // Ports are told apart by number, but their names must differ too: both cannot stay.
    const renumbered = [{ name: 'http', port: 81, targetPort: 80 }];
    await world.admin.mergePatch(ref, { spec: { ports: renumbered } });
    const [planned] = await sync({ dryRun: true });
    expect(planned?.plan).toMatchObject({
      action: 'change',
      detail: expect.stringContaining('spec.ports'),
    });
    await sync();
    expect(await world.admin.get(ref)).toMatchObject({ spec: { ports: [{ ...ports[0] }] } });
    expect(await world.writesDuring(sync)).toEqual([]);
  });

  test('are read by label and owner', async () => {
    const { owner } = await family('reader');
    await family('reader-2');
    const read = () =>
      readChildren(configMapKind, { object: owner, operator: OPERATOR }, world.context());
    const names = async () => (await read()).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual(['reader']);
    expect((await read())[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    // The child of another owner does not become ours by losing its controller.
    await world.admin.mergePatch(refTo(configMapKind, 'reader-2'), {
      metadata: { ownerReferences: null },
    });
    expect(await names()).toEqual(['reader']);
    await world.admin.mergePatch(refTo(configMapKind, 'reader'), {
      metadata: { ownerReferences: null },
    });
    expect(await names()).toEqual(['reader']);
    const { items } = await world.kube.list(configMapKind, {
      limit: 500,
      labelSelector: childrenOf(OPERATOR),
    });
    expect(items.length).toBeGreaterThan(2);
  });

  test('are removed if they are the ones that were read', async () => {
    const { owner, mustGet } = await family('removed');
    const ref = refTo(configMapKind, 'removed');
    const live = await mustGet(configMapKind);
    const plan = await removeChildren(owner, [{ ref, live }], world.context());
    expect(plan).toMatchObject([{ action: 'delete', subject: 'ConfigMap default/removed' }]);
    expect(await world.admin.get(ref)).toBeUndefined();
    await removeChildren(owner, [{ ref, live }], world.context());

    await world.admin.create(configMapKind, 'default', { metadata: { name: 'removed' } });
    const late = removeChildren(owner, [{ ref, live }], world.context());
    await expect(late).rejects.toMatchObject({ status: 409 });
    expect(await world.admin.get(ref)).toBeDefined();
  });
});
