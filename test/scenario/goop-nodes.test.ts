import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { goop } from '../../functions/goop/operator.ts';
import type { Condition } from '../../runtime/kube/objects.ts';
import {
  type Any,
  type ChildrenSystem,
  daemonSetKind,
  jobKind,
  nodeKind,
  podKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';

const { kind } = goop;
const name = 'goop-daemonset-sample';
const isTrue = ({ status }: Condition): boolean => status === 'True';
const isFalse = ({ status }: Condition): boolean => status === 'False';
const isReason = (reason: string) => (condition: Condition) => condition.reason === reason;
const doneOn = (count: number) => (object: Any) =>
  object.status?.workers === count && object.status.succeeded === count;

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(goop);
});
afterAll(() => system?.stop());

test('a worker runs on each node before its pod pauses', async () => {
  const file = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'goop-daemonset.yaml');
  const sample = parse(await readFile(file, 'utf8')) as Any;
  await system.addNode('node-2');
  await system.create(sample.metadata.name, sample.spec);
  await system.reaches(kind, name, doneOn(2));
  expect(await system.reachesCondition(name, isTrue)).toMatchObject({
    message: '2 of 2 workers are done',
  });
  const daemonSet = await system.find(daemonSetKind, name);
  const { initContainers, containers } = daemonSet?.spec.template.spec ?? {};
  expect(initContainers[0].command[2]).toBe('worker on $(NODE_NAME): hello');
  expect(containers[0].command[0]).toBe('sleep');
  expect(await system.list(jobKind)).toEqual([]);
  await system.isQuiet();
  const before = await system.writes();
  await system.byHand(name);
  expect(await system.writes()).toEqual(before);
});

test('nodes come and go, and it is complete while all that are there are done', async () => {
  await system.addNode('node-3');
  await system.reaches(kind, name, doneOn(3));
  await system.evict('node-2');
  await system.removeNode('node-2');
  await system.reaches(kind, name, doneOn(2));
  await system.reachesCondition(name, isTrue, 'Completed');
});

test('a node on which the worker fails is named, with the reason', async () => {
  await system.addNode('failing-1');
  const told = await system.reachesCondition(name, isReason('WorkerFailed'), 'Completed');
  expect(told.status).toBe('False');
  expect(told.message).toBe(
    '1 of 3 workers failed: node failing-1 (container worker ended with exit code 1 (CrashLoopBackOff))',
  );
  expect((await system.get(name))?.status).toMatchObject({ workers: 3, succeeded: 2, failed: 1 });
  await system.evict('failing-1');
  await system.removeNode('failing-1');
  await system.reaches(kind, name, doneOn(2));
  await system.reachesCondition(name, isTrue, 'Completed');
});

test('another foo has every node do the work again', async () => {
  const pods = async () =>
    (await system.list(podKind, `goop.example.com/name=${name}`)).map(({ metadata }) => metadata);
  const before = (await pods()).map(({ uid }) => uid);
  const { generation } = (await system.patch(name, { spec: { foo: 'again' } })).metadata;
  await system.reaches(
    kind,
    name,
    (one) => one.status.observedGeneration === generation && doneOn(2)(one),
  );
  await system.reachesCondition(name, isTrue, 'Completed');
  const alive = (await pods()).filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
  expect(alive.filter(({ uid }) => before.includes(uid))).toEqual([]);
});

test('a DaemonSet that was edited or deleted is put right', async () => {
  await system.patchChild(daemonSetKind, name, {
    spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } },
  });
  const isRight = ({ spec }: Any) => spec.template.spec.terminationGracePeriodSeconds === 1;
  await system.reaches(daemonSetKind, name, isRight, 15);
  const { uid } = (await system.find(daemonSetKind, name))?.metadata ?? {};
  await system.remove(daemonSetKind, name);
  await system.reaches(daemonSetKind, name, ({ metadata }) => metadata.uid !== uid, 15);
  await system.reachesCondition(name, isTrue, 'Completed');
});

test('no node at all is told', async () => {
  for (const node of ['node-1', 'node-3']) await system.evict(node);
  const told = await system.reachesCondition(name, isFalse, 'Completed');
  await system.reachesCondition(
    name,
    ({ message }) => message === 'there is no node that takes a worker',
    'Deployed',
  );
  expect(told.status).toBe('False');
  for (const node of ['node-1', 'node-3']) {
    const ref = { kind: nodeKind, namespace: '', name: node };
    await system.admin.mergePatch(ref, { spec: { taints: null } });
  }
  await system.reaches(kind, name, doneOn(2));
});

test('a change of mode removes what the other way has left', async () => {
  await system.patch(name, { spec: { mode: 'Jobs', job_count: 2 } });
  await system.isGone(daemonSetKind, name);
  await system.reaches(kind, name, ({ status }) => status.completedIndexes === '0-1');
  await system.patch(name, { spec: { mode: 'DaemonSet' } });
  await system.isGone(jobKind, `${name}-0`);
  await system.isGone(jobKind, `${name}-1`);
  await system.reaches(kind, name, doneOn(2));
  await system.reachesCondition(name, isTrue, 'Completed');
});

test('the operator has the rights it uses, and uses the rights it has', async () => {
  const owned = goop.owns.flatMap(({ group, plural, verbs }) =>
    verbs.map((verb) => `${verb} ${group}/${plural}`),
  );
  const granted = [...owned, 'list /pods'];
  const used = [...(await system.rightsUsed())];
  const onChildren = used.filter((right) => /(jobs|daemonsets|pods)$/.test(right));
  expect(onChildren.toSorted()).toEqual(granted.toSorted());
});

test('a deleted Goop says that it is finalized, and leaves nothing behind', async () => {
  await system.create('jobs', { foo: 'x', job_count: 2 });
  await system.reachesCondition('jobs', isTrue, 'Completed');
  for (const goopName of [name, 'jobs']) {
    await system.delete(goopName);
    await system.isGone(kind, goopName);
    const told = await system.eventsOf(goopName);
    expect(told.map(({ note }) => note)).toContain('deleted; its workers go with it');
  }
  await system.isGone(daemonSetKind, name);
  await expect.poll(() => system.list(jobKind), { timeout: 60_000 }).toEqual([]);
  await expect.poll(() => system.list(podKind), { timeout: 60_000 }).toEqual([]);
});

test('a Goop that is deleted and made again at once has no conflict with what it left', async () => {
  await system.create('again', { foo: 'x', job_count: 2 });
  await system.reachesCondition('again', isTrue, 'Completed');
  await system.delete('again');
  await system.isGone(kind, 'again');
  const { metadata } = await system.create('again', { foo: 'x', job_count: 2 });
  const isAnew = (job: Any) => job.metadata.ownerReferences?.[0]?.uid === metadata.uid;
  await system.reaches(jobKind, 'again-1', isAnew);
  await system.reachesCondition('again', isTrue, 'Completed');
  const reasons = (await system.eventsOf('again')).map(({ reason }) => reason);
  expect(reasons).not.toContain('Conflict');
});
