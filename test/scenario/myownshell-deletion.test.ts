import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { myownshell } from '../../functions/myownshell/operator.ts';
import type { Condition } from '../../runtime/kube/objects.ts';
import {
  type ChildrenSystem,
  configMapKind,
  deploymentKind,
  podKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';

const { kind, finalizer = '' } = myownshell;
const paused = { 'podless.dev/paused': 'true' };
const isTrue = ({ status }: Condition): boolean => status === 'True';

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(myownshell);
});
afterAll(() => system?.stop());

const readyShell = async (name: string) => {
  await system.create(name, { size: 1 });
  return system.reachesCondition(name, isTrue);
};

// The garbage collector of a new cluster takes half a minute to know of our kinds: the first test waits for that.
describe('a deleted shell', () => {
  test('leaves an Event and nothing else behind', async () => {
    const name = 'deleted';
    await readyShell(name);
    await system.delete(name);
    await system.isGone(kind, name);
    expect((await system.eventsOf(name)).map(({ reason }) => reason)).toContain('Deleted');
    await system.isGone(deploymentKind, name);
    await system.isGone(configMapKind, name);
    await expect.poll(() => system.list(podKind), { timeout: 30_000 }).toEqual([]);
  });

  test('leaves its children behind if that was asked for, and they are taken up again', async () => {
    const name = 'orphaning';
    await readyShell(name);
    const before = (await system.find(deploymentKind, name))?.metadata.uid;
    await system.admin.delete(system.refOf(kind, name), { propagationPolicy: 'Orphan' });
    await system.isGone(kind, name);
    const left = await system.find(deploymentKind, name);
    expect(left?.metadata).toMatchObject({ uid: before });
    expect(left?.metadata.ownerReferences).toBeUndefined();
    const { metadata } = await system.create(name, { size: 2 });
    await system.reaches(kind, name, ({ status }) => status?.readyReplicas === 2);
    const deployment = await system.find(deploymentKind, name);
    expect(deployment?.metadata).toMatchObject({
      uid: before,
      ownerReferences: [{ uid: metadata.uid }],
    });
  });

  test('and made again at once has no conflict with what it left', async () => {
    const name = 'again';
    await readyShell(name);
    const before = (await system.get(name))?.metadata.uid;
    await system.delete(name);
    await system.isGone(kind, name);
    await system.create(name, { size: 1 });
    await system.reaches(
      deploymentKind,
      name,
      ({ metadata }) => metadata.ownerReferences?.[0]?.uid !== before,
    );
    await system.reachesCondition(name, isTrue);
    const reasons = (await system.eventsOf(name)).map(({ reason }) => reason);
    expect(reasons).not.toContain('Conflict');
  });

  test('goes, also in the foreground, if the old operator has its finalizer on the Deployment', async () => {
    await readyShell('last');
    await system.patch('last', { metadata: { annotations: paused } });
    await system.reachesCondition('last', isTrue, 'Paused');
    await system.patchChild(deploymentKind, 'last', { metadata: { finalizers: [finalizer] } });
    await system.admin.delete(system.refOf(kind, 'last'), { propagationPolicy: 'Foreground' });
    await system.patch('last', { metadata: { annotations: { 'podless.dev/paused': null } } });
    await system.isGone(kind, 'last');
    await system.isGone(deploymentKind, 'last');
  });
});
