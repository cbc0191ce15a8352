import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConflictError } from '../../runtime/children/conflict.ts';
import { removeChildren, syncChildren } from '../../runtime/children/sync.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import {
  type ChildrenWorld,
  childOf,
  configMapChild,
  deploymentChild,
  deploymentKind,
  refTo,
  startChildrenWorld,
} from '../helpers/children-world.ts';
import { configMapKind } from '../helpers/runtime-widget.ts';

let world: ChildrenWorld;

beforeAll(async () => {
  world = await startChildrenWorld();
});

afterAll(() => world?.stop());

const configMap = (name: string) => world.admin.get(refTo(configMapKind, name));
const createConfigMap = (metadata: object, data: object = { theirs: '1' }) =>
  world.admin.create(configMapKind, 'default', { metadata, data });

/** Two children, the second of which is somebody else's already. */
async function syncBoth(name: string) {
  const owner = await world.widgets.create(name);
  const manifests = [deploymentChild(name), configMapChild(name, { ours: '1' })].map((child) =>
    childOf(owner, child),
  );
  return syncChildren(owner, manifests, world.context());
}

describe('a name that is taken', () => {
  const reference = { apiVersion: 'test.podless.dev/v1', kind: 'Widget', controller: true };
  test.each([
    [
      'by another controller',
      { ownerReferences: [{ ...reference, name: 'rival', uid: 'someone' }] },
      'Widget rival',
    ],
    [
      'by a Helm release',
      {
        annotations: {
          'meta.helm.sh/release-name': 'shop',
          'meta.helm.sh/release-namespace': 'prod',
        },
      },
      'the Helm release prod/shop',
    ],
    [
      'by an owner in another namespace',
      { annotations: { 'podless.dev/owner': 'far/away' } },
      'far/away, as its annotation podless.dev/owner says',
    ],
    ['by a person', {}, 'nobody; it was made by'],
  ])('%s is left alone, and so is everything else', async (_what, metadata, named) => {
    const name = `taken-${named.length}`;
    const before = await createConfigMap({ name, ...metadata });
    let failure: unknown;
    const writes = await world.writesDuring(async () => {
      failure = await syncBoth(name).catch((error: unknown) => error);
    });
    expect(failure).toBeInstanceOf(ConflictError);
    expect(failure).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining(
        `ConfigMap default/${name} exists already and belongs to ${named}`,
      ),
    });
    expect(writes).toEqual([]);
    expect(await configMap(name)).toEqual(before);
    expect(await world.admin.get(refTo(deploymentKind, name))).toBeUndefined();
  });

  test.each([
    ['with other values', { ours: 'not at all' }, { status: 409 }],
    ['with nothing in common', { theirs: '1' }, { reason: 'Conflict' }],
  ])('between the look and the write, %s, is not overwritten', async (_what, data, failure) => {
    const name = `raced-${Object.keys(data).join('-')}`;
    const owner = await world.widgets.create(name);
    const kube: KubeClient = {
      ...world.kube,
      get: async () => {
        await createConfigMap({ name }, data);
        return undefined;
      },
    };
    const manifests = [childOf(owner, configMapChild(name, { ours: '1' }))];
    const late = syncChildren(owner, manifests, world.context({ kube }));
    await expect(late).rejects.toMatchObject(failure);
    const theirs = await configMap(name);
    expect(theirs).toMatchObject({ data });
    expect(theirs?.metadata).not.toHaveProperty('ownerReferences');
    expect(theirs?.metadata).not.toHaveProperty('labels');
    const next = syncChildren(owner, manifests, world.context());
    await expect(next).rejects.toThrow(ConflictError);
  });

  test('by a new object in the place of the one that was read is not overwritten', async () => {
    const owner = await world.widgets.create('replaced');
    const ref = refTo(configMapKind, 'replaced');
    const sync = (ours: string, kube: KubeClient) =>
      syncChildren(
        owner,
        [childOf(owner, configMapChild('replaced', { ours }))],
        world.context({ kube }),
      );
    await sync('1', world.kube);
    const kube: KubeClient = {
      ...world.kube,
      get: async () => {
        const read = await world.kube.get(ref);
        await world.admin.delete(ref, {});
        await createConfigMap({ name: 'replaced' });
        return read;
      },
    };
    await expect(sync('2', kube)).rejects.toMatchObject({ status: 409 });
    expect(await configMap('replaced')).toMatchObject({ data: { theirs: '1' } });
    expect((await configMap('replaced'))?.metadata.ownerReferences).toBeUndefined();
  });
});

test('a child on its way out is left to go, and made anew then', async () => {
  const owner = await world.widgets.create('leaving');
  const ref = refTo(configMapKind, 'leaving');
  const manifests = [childOf(owner, configMapChild('leaving', { ours: '1' }))];
  const sync = () => syncChildren(owner, manifests, world.context());
  await sync();
  const finalizers = ['example.com/wait'];
  const before = await world.admin.mergePatch(ref, { metadata: { finalizers } });
  await world.admin.delete(ref, {});
  const writes = await world.writesDuring(async () => {
    expect(await sync()).toMatchObject([{ leaving: true, plan: { action: 'none' } }]);
    const live = await world.kube.get(ref);
    if (live) await removeChildren(owner, [{ ref, live }], world.context());
  });
  expect(writes).toEqual([]);
  await world.admin.mergePatch(ref, { metadata: { finalizers: null } });
  const [made] = await sync();
  expect(made).toMatchObject({ leaving: false, plan: { action: 'create' } });
  expect(made?.live?.metadata.uid).not.toBe(before.metadata.uid);
});

test('a child that an earlier owner of the same name has left is left to the garbage collector', async () => {
  const earlier = await world.widgets.create('reborn');
  const sync = (owner: KubeObject) =>
    syncChildren(
      owner,
      [childOf(owner, configMapChild('reborn', { of: owner.metadata.uid }))],
      world.context(),
    );
  await sync(earlier);
  await world.widgets.delete('reborn');
  const owner = await world.widgets.create('reborn');
  const writes = await world.writesDuring(async () => {
    expect(await sync(owner)).toMatchObject([{ leaving: true, plan: { action: 'none' } }]);
  });
  expect(writes).toEqual([]);
  await world.admin.delete(refTo(configMapKind, 'reborn'), {});
  expect(await sync(owner)).toMatchObject([{ leaving: false, plan: { action: 'create' } }]);
  expect(await configMap('reborn')).toMatchObject({ data: { of: owner.metadata.uid } });
});

test('a child that was let go is taken back, but not for an owner that was deleted since it was read', async () => {
  const owner = await world.widgets.create('letting-go');
  const ref = refTo(configMapKind, 'letting-go');
  const manifests = [childOf(owner, configMapChild('letting-go', { ours: '1' }))];
  await syncChildren(owner, manifests, world.context());
  await world.admin.mergePatch(ref, { metadata: { ownerReferences: null } });
  const writes = await world.writesDuring(async () => {
    const gone = world.context({ isStillThere: async () => false });
    await expect(syncChildren(owner, manifests, gone)).rejects.toThrow(
      'Widget default/letting-go was deleted while its children were read',
    );
  });
  expect(writes).toEqual([]);
  await syncChildren(owner, manifests, world.context());
  expect((await configMap('letting-go'))?.metadata.ownerReferences).toMatchObject([
    { uid: owner.metadata.uid },
  ]);
});

test('children of others are not removed', async () => {
  const owner = await world.widgets.create('modest');
  const live = await createConfigMap({ name: 'not-mine' });
  const ref = refTo(configMapKind, 'not-mine');
  expect(await removeChildren(owner, [{ ref, live }], world.context())).toEqual([]);
  expect(await configMap('not-mine')).toEqual(live);
});
