import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { workerName } from '../../functions/goop/names.ts';
import { goop } from '../../functions/goop/operator.ts';
import { reconciler } from '../../functions/goop/reconciler.ts';
import type { Condition } from '../../runtime/kube/objects.ts';
import {
  type Any,
  type ChildrenSystem,
  jobKind,
  podKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';

const { kind } = goop;
const isTrue = ({ status }: Condition): boolean => status === 'True';
const isFalse = ({ status }: Condition): boolean => status === 'False';
const commandOf = (job: Any | undefined) => job?.spec.template.spec.containers[0].command;

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(goop);
});
afterAll(() => system?.stop());

const jobsOf = async (name: string): Promise<Readonly<Record<string, string>>> => {
  const jobs = await system.list(jobKind, `goop.example.com/name=${name}`);
  return Object.fromEntries(jobs.map(({ metadata }) => [metadata.name, metadata.uid]));
};
const hasWorkers = (count: number) => (object: Any) =>
  object.status?.workers === count &&
  object.status.observedGeneration === object.metadata.generation;
const doneGoop = async (name: string, spec: object) => {
  await system.create(name, spec);
  await system.reachesCondition(name, isTrue, 'Completed');
};

describe('the sample', () => {
  const name = 'goop-sample';

  test('runs its workers, and shows each step in its conditions', async () => {
    const file = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'goop.yaml');
    const sample = parse(await readFile(file, 'utf8')) as Any;
    await system.create(sample.metadata.name, sample.spec);
    await system.reachesCondition(name, isTrue);
    const found = await system.get(name);
    expect(found?.metadata.finalizers).toEqual(['goop.example.com/finalizer']);
    const conditions: readonly Condition[] = found?.status.conditions;
    expect(conditions.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'Ready True',
      'Initialized True',
      'Deployed True',
      'Completed True',
      'Finalized False',
    ]);
    expect(found?.status).toMatchObject({
      workers: 3,
      succeeded: 3,
      failed: 0,
      completedIndexes: '0-2',
    });
    const job = await system.find(jobKind, `${name}-2`);
    expect(commandOf(job)).toEqual(['printf', '%s\\n', 'worker 2: hello']);
    expect(job?.metadata.ownerReferences).toMatchObject([
      { kind: 'Goop', name, uid: found?.metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
  });

  test('is written no more once it is done', async () => {
    await system.isQuiet();
    const before = await system.writes();
    expect(await system.byHand(name)).toMatchObject({ outcome: 'done' });
    expect(await system.byHand(name)).toMatchObject({ outcome: 'done' });
    const { plan } = await system.byHand(name, { dryRun: true });
    expect(plan.map(({ action }: { action: string }) => action)).toEqual(['none', 'none', 'none']);
    expect(await system.writes()).toEqual(before);
  });

  test('has a worker that was edited put right', async () => {
    const labels = { 'goop.example.com/name': 'other', mine: 'yes' };
    await system.patchChild(jobKind, `${name}-1`, {
      metadata: { labels, annotations: { 'goop.example.com/work-digest': 'other' } },
    });
    const job = await system.reaches(
      jobKind,
      `${name}-1`,
      ({ metadata }) => metadata.labels?.['goop.example.com/name'] === name,
      15,
    );
    expect(job.metadata.labels).toMatchObject({ mine: 'yes' });
    expect(await system.conditionOf(name, 'Completed')).toMatchObject({ status: 'True' });
  });

  test('does not run a worker again that was done and then deleted', async () => {
    await system.remove(jobKind, `${name}-1`);
    await system.isGone(jobKind, `${name}-1`);
    await system.byHand(name);
    expect(Object.keys(await jobsOf(name))).toEqual([`${name}-0`, `${name}-2`]);
    expect((await system.get(name))?.status).toMatchObject({ succeeded: 3 });
    expect(await system.conditionOf(name)).toMatchObject({ status: 'True' });
  });
});

describe('another job_count', () => {
  const name = 'scaled';

  test('adds workers and leaves the others alone; it is complete again when all are', async () => {
    await doneGoop(name, { foo: 'x', job_count: 3 });
    const before = await jobsOf(name);
    await system.cordon(true);
    await system.patch(name, { spec: { job_count: 5 } });
    const back = await system.reachesCondition(name, isFalse, 'Completed');
    expect(back).toMatchObject({ reason: 'WorkersRunning', message: '3 of 5 workers are done' });
    expect(await jobsOf(name)).toMatchObject(before);
    expect(Object.keys(await jobsOf(name))).toHaveLength(5);
  });

  test('has a worker that was deleted before it was done made anew', async () => {
    const { [`${name}-4`]: uid } = await jobsOf(name);
    await system.remove(jobKind, `${name}-4`);
    await system.reaches(jobKind, `${name}-4`, ({ metadata }) => metadata.uid !== uid, 15);
    await system.cordon(false);
    await system.reachesCondition(name, isTrue, 'Completed');
    expect((await system.get(name))?.status).toMatchObject({ completedIndexes: '0-4' });
  });

  test('removes only surplus workers, those with the highest numbers', async () => {
    const before = await jobsOf(name);
    await system.patch(name, { spec: { job_count: 2 } });
    await system.reaches(kind, name, hasWorkers(2));
    await system.isGone(jobKind, `${name}-2`);
    await system.isGone(jobKind, `${name}-4`);
    const { [`${name}-0`]: first, [`${name}-1`]: second } = before;
    expect(await jobsOf(name)).toEqual({ [`${name}-0`]: first, [`${name}-1`]: second });
    expect((await system.get(name))?.status).toMatchObject({ completedIndexes: '0-1' });
  });

  test('of 0 is complete at once; without one there is one worker', async () => {
    await doneGoop('none', { foo: 'x', job_count: 0 });
    expect(await jobsOf('none')).toEqual({});
    await doneGoop('unsaid', {});
    expect(Object.keys(await jobsOf('unsaid'))).toEqual(['unsaid-0']);
    await system.create('bare', undefined);
    await system.reachesCondition('bare', isTrue, 'Completed');
    expect(Object.keys(await jobsOf('bare'))).toEqual(['bare-0']);
  });
});

describe('foo', () => {
  const hostile = '"; rm -rf / #$(HOSTNAME) $$(x) `id` %s \\n\n-e 💥 \'';

  test('reaches the worker as it is, whatever it is', async () => {
    await doneGoop('hostile', { foo: hostile, job_count: 1 });
    const command = commandOf(await system.find(jobKind, 'hostile-0'));
    // Kubernetes takes $$ for $ and would fill in $(NAME).
    const doubled = hostile.replaceAll('$', () => '$$');
    expect(command).toEqual(['printf', '%s\\n', `worker 0: ${doubled}`]);
  });

  test('that is another makes every worker run again', async () => {
    const before = await jobsOf('hostile');
    await system.patch('hostile', { spec: { foo: 'tame', job_count: 2 } });
    await system.reaches(kind, 'hostile', hasWorkers(2));
    await system.reachesCondition('hostile', isTrue, 'Completed');
    const after = await jobsOf('hostile');
    expect(after['hostile-0']).not.toBe(before['hostile-0']);
    for (const index of [0, 1]) {
      const job = await system.find(jobKind, `hostile-${index}`);
      expect(commandOf(job)[2]).toBe(`worker ${index}: tame`);
    }
    const pods = await system.list(podKind, 'goop.example.com/name=hostile');
    expect(pods.map(({ status }) => status.phase)).toEqual(['Succeeded', 'Succeeded']);
  });
});

test('long names are cut short, and stay apart', async () => {
  const names = ['a', 'b'].map((end) => `${'n'.repeat(60)}.${'m'.repeat(150)}${end}`);
  for (const name of names) await system.create(name, { foo: 'x', job_count: 11 });
  for (const name of names) {
    await system.reachesCondition(name, isTrue, 'Completed');
    expect(await system.find(jobKind, workerName(name, 10))).toBeDefined();
  }
});

test('a dry run tells what would be made and removed, and does nothing', async () => {
  await system.patch('scaled', {
    metadata: { annotations: { 'podless.dev/paused': 'true' } },
    spec: { job_count: 3, foo: 'y' },
  });
  await system.reachesCondition('scaled', isTrue, 'Paused');
  const before = await jobsOf('scaled');
  const plan = await system.planOf(reconciler, 'scaled');
  expect(plan.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    'create Job default/scaled-2',
    'delete Job default/scaled-0',
    'delete Job default/scaled-1',
    'create Job default/scaled-0',
    'create Job default/scaled-1',
  ]);
  expect(await jobsOf('scaled')).toEqual(before);
});
