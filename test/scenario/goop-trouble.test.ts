import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goop } from '../../functions/goop/operator.ts';
import type { Condition } from '../../runtime/kube/objects.ts';
import { storeBeforeRules } from '../helpers/children-crd.ts';
import {
  type ChildrenSystem,
  jobKind,
  podKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';

const { kind } = goop;
const isTrue = ({ status }: Condition): boolean => status === 'True';
const isReason = (reason: string) => (condition: Condition) => condition.reason === reason;
const says = (text: string) => (condition: Condition) => condition.message.includes(text);

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(goop);
});
afterAll(() => system?.stop());

/** Runs `work` while new pods go to this node and to no other. */
const onlyOn = async (node: string, work: () => Promise<unknown>) => {
  await system.addNode(node);
  await system.cordon(true);
  try {
    await work();
  } finally {
    await system.cordon(false);
    await system.removeNode(node);
  }
};
const podsOf = (name: string) => system.list(podKind, `goop.example.com/name=${name}`);
const podRunsOn = (name: string, node: string) =>
  expect
    .poll(async () => (await podsOf(name)).map(({ spec }) => spec.nodeName), { timeout: 30_000 })
    .toEqual([node]);

test('200 workers are made side by side, and complete', async () => {
  await system.create('many', { foo: 'x', job_count: 200 });
  await system.reachesCondition('many', isTrue, 'Completed', 180);
  const { status } = (await system.get('many')) ?? {};
  expect(status).toMatchObject({ workers: 200, succeeded: 200, completedIndexes: '0-199' });
  expect(JSON.stringify(status).length).toBeLessThan(2_000);
  const jobs = (await system.writes()).filter((write) =>
    write.startsWith('patch batch/jobs many-'),
  );
  expect(jobs).toHaveLength(200);
});

describe('a worker', () => {
  test('that fails is named, and is tried again', async () => {
    await onlyOn('failing-1', async () => {
      await system.create('retried', { foo: 'x', job_count: 1 });
      const told = await system.reachesCondition('retried', says('failed once'), 'Completed');
      expect(told).toMatchObject({ status: 'False', reason: 'WorkersRunning' });
      expect(told.message).toBe('0 of 1 workers are done; retried-0 (failed once, tried again)');
    });
    await system.reachesCondition('retried', isTrue, 'Completed');
  });

  test('that has failed for good is named with the reason, until somebody deletes its Job', async () => {
    await onlyOn('stuck-1', async () => {
      await system.create('hopeless', { foo: 'x', job_count: 1 });
      await podRunsOn('hopeless', 'stuck-1');
      await system.patchChild(jobKind, 'hopeless-0', { spec: { activeDeadlineSeconds: 1 } });
      const told = await system.reachesCondition('hopeless', isReason('WorkerFailed'), 'Completed');
      expect(told.message).toBe(
        '1 of 1 workers failed: hopeless-0 (Job was active longer than specified deadline)',
      );
      expect(await system.conditionOf('hopeless')).toMatchObject({ reason: 'WorkerFailed' });
      expect((await system.get('hopeless'))?.status).toMatchObject({ failed: 1, succeeded: 0 });
    });
    await system.remove(jobKind, 'hopeless-0');
    await system.reachesCondition('hopeless', isTrue, 'Completed');
  });

  test('whose node goes away is not done until it has run elsewhere', async () => {
    await onlyOn('stuck-2', async () => {
      await system.create('moved', { foo: 'x', job_count: 1 });
      await podRunsOn('moved', 'stuck-2');
      await system.reachesCondition('moved', isReason('WorkersRunning'), 'Completed');
      await system.evict('stuck-2');
      await expect
        .poll(async () => (await podsOf('moved')).map(({ spec }) => spec.nodeName), {
          timeout: 30_000,
        })
        .toEqual([undefined]);
      expect(await system.conditionOf('moved', 'Completed')).toMatchObject({ status: 'False' });
    });
    await system.reachesCondition('moved', isTrue, 'Completed');
    await podRunsOn('moved', 'node-1');
  });

  test('that is suspended by hand is left so, and named', async () => {
    await onlyOn('stuck-3', async () => {
      await system.create('held', { foo: 'x', job_count: 1 });
      await podRunsOn('held', 'stuck-3');
      await system.patchChild(jobKind, 'held-0', { spec: { suspend: true } });
      await system.reachesCondition('held', says('held-0 (suspended)'), 'Completed');
      await system.patchChild(jobKind, 'held-0', { spec: { suspend: false } });
    });
  });
});

test('a name that is taken is told with its owner, nothing is touched, and it is used once it is free', async () => {
  const foreign = {
    metadata: { name: 'taken-1' },
    spec: {
      suspend: true,
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'theirs', image: 'busybox' }] },
      },
    },
  };
  await system.admin.create(jobKind, 'default', foreign);
  await system.create('taken', { foo: 'x', job_count: 3 });
  await system.reachesCondition('taken', isTrue, 'Conflict');
  const told = await system.conditionOf('taken', 'Deployed');
  expect(told).toMatchObject({ status: 'False', reason: 'Conflict' });
  expect(told?.message).toContain('Job default/taken-1 exists already and belongs to ');
  expect(await system.find(jobKind, 'taken-0')).toBeUndefined();
  expect(await system.find(jobKind, 'taken-1')).toMatchObject({ spec: { suspend: true } });
  await system.remove(jobKind, 'taken-1');
  await system.isGone(jobKind, 'taken-1');
  await system.byHand('taken');
  await system.reachesCondition('taken', isTrue, 'Completed');
  expect(await system.conditionOf('taken', 'Conflict')).toBeUndefined();
  await system.isQuiet();
  const writes = await system.writes();
  await system.byHand('taken');
  expect(await system.writes()).toEqual(writes);
});

test('a worker that a quota refuses is told in its words', async () => {
  const quotaKind = { group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' };
  const quota = system.refOf(quotaKind, 'few-jobs');
  const spec = { hard: { 'count/jobs.batch': '1' } };
  await system.admin.create(quotaKind, 'default', { metadata: { name: 'few-jobs' }, spec });
  await system.reaches(quotaKind, 'few-jobs', ({ status }) => status?.used !== undefined);
  await system.create('refused', { foo: 'x', job_count: 2 });
  const told = await system.reachesCondition('refused', isReason('ChildRefused'));
  expect(told.message).toContain('exceeded quota: few-jobs');
  await system.admin.delete(quota, {});
  await system.reachesCondition('refused', isTrue, 'Completed');
});

describe('bad input', () => {
  test.each([
    ['negative', 'spec.job_count', { job_count: -1 }],
    ['huge', 'spec.job_count', { job_count: 1_001 }],
    ['beyond 32 bits', 'spec.job_count', { job_count: 2_147_483_648 }],
    ['a text', 'spec.job_count', { job_count: '3' }],
    ['too long', 'spec.foo', { foo: 'x'.repeat(4_097) }],
    ['one that no program can get', 'spec.foo', { foo: 'a\0b' }],
    ['a number', 'spec.foo', { foo: 7 }],
    ['unknown', 'spec.mode', { mode: 'Pods' }],
  ])('%s is refused at admission in %s', async (_what, field, spec) => {
    expect(await system.refusal('bad', spec)).toContain(`${field}: `);
  });

  test('that was stored before the CRD had its rules is told, makes nothing, and can be deleted', async () => {
    const specs = {
      'old-negative': { job_count: -1 },
      'old-huge': { job_count: 4_000_000_000 },
      'old-mode': { mode: 'Pods' },
    };
    await storeBeforeRules(system.admin, goop, specs);
    for (const name of Object.keys(specs)) {
      const told = await system.reachesCondition(name, isReason('InvalidSpec'), 'Initialized');
      expect(told).toMatchObject({ status: 'False' });
      expect(told.message).toMatch(/^spec\.(job_count|mode) must be .*, got /);
      expect(await system.conditionOf(name, 'Completed')).toMatchObject({ status: 'False' });
      await system.delete(name);
      await system.isGone(kind, name);
    }
  });
});
