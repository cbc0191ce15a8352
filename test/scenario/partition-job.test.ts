import '../helpers/dynamodb-credentials.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeyType } from '../../functions/ddbctldpjob/table.ts';
import { ANNOTATION_PAUSED, ANNOTATION_RECONCILE_REQUESTED_AT } from '../../runtime/annotations.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/dynamodb-fault-proxy.ts';
import { keyValue } from '../helpers/dynamodb-tables.ts';
import { createNames, type JobSystem, startJobSystem } from '../helpers/job-system.ts';
import { type JobState, readyOf } from '../helpers/system.ts';
import { until } from '../helpers/until.ts';

const isCompleted = ({ phase }: JobState): boolean => phase === 'Completed';
const newName = createNames('job');

let system: JobSystem;
beforeAll(async () => {
  system = await startJobSystem();
});
afterAll(() => system?.stop());

/** A table and a job of the same name that is done with its partition "mine". */
async function completedJob(name: string, items = 30): Promise<void> {
  await system.partitions.fill(name, { mine: items, neighbour: 10 });
  await system.createJob(name, { tableName: name, partitionValue: 'mine' });
  await system.jobReaches(name, isCompleted);
}

const versionOf = async (name: string) => (await system.getJob(name))?.metadata.resourceVersion;

describe('a job', () => {
  const shapes = [
    { shape: 'flat', specOf: (fields: object) => fields },
    { shape: 'nested', specOf: (fields: object) => ({ ddbCtlDpJob: fields }) },
  ];
  test.each(shapes)(
    'in the $shape shape deletes its partition and nothing else',
    async ({ specOf }) => {
      const name = newName();
      const neighbours = { 'customer-4': 30, 'customer-421': 30, 'customer-42 ': 30 };
      await system.partitions.fill(name, { 'customer-42': 130, ...neighbours });

      const fields = { tableName: name, partitionValue: 'customer-42', awsRegion: 'us-east-1' };
      await system.createJob(name, specOf(fields));

      expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 130 });
      expect(await system.partitions.left(name, 'customer-42')).toBe(0);
      for (const neighbour of Object.keys(neighbours))
        expect(await system.partitions.left(name, neighbour)).toBe(30);
    },
  );

  test.each(shapes)(
    'in the $shape shape is in us-east-1 if nothing else is said',
    async ({ specOf }) => {
      const name = newName();
      const created = await system.createJob(
        name,
        specOf({ tableName: name, partitionValue: 'x' }),
      );
      expect(created.spec).toMatchObject(
        specOf({ tableName: name, partitionValue: 'x', awsRegion: 'us-east-1' }),
      );
      const status = await system.jobReaches(name, ({ target }) => target !== undefined);
      expect(status.target).toMatchObject({ awsRegion: 'us-east-1' });
      await system.deleteJob(name);
    },
  );

  const valueFor: Readonly<Record<KeyType, (number: number) => string>> = {
    S: (number) => (keyValue('S', number) as { S: string }).S,
    N: (number) => (keyValue('N', number) as { N: string }).N,
    B: (number) => Buffer.from((keyValue('B', number) as { B: Uint8Array }).B).toString('base64'),
  };
  test.each(['S', 'N', 'B'] as const)(
    'reads partitionValue as the key type %s of its table, whatever the keys are called',
    async (type) => {
      const name = newName();
      // Reserved words of DynamoDB's expressions, both.
      const partitionKey = { name: 'group', type };
      await system.partitions.create(name, {
        partitionKey,
        sortKey: { name: 'order', type: 'B' },
      });
      const items = [1, 2, 3].flatMap((group) =>
        Array.from({ length: 40 }, (_, order) => ({
          group: keyValue(type, group),
          order: keyValue('B', order),
        })),
      );
      await system.partitions.tables.put(name, items);

      await system.createJob(name, { tableName: name, partitionValue: valueFor[type](2) });

      expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 40 });
      const left = (group: number) =>
        system.partitions.tables.count(name, 'group', keyValue(type, group));
      expect([await left(1), await left(2), await left(3)]).toEqual([40, 0, 40]);
    },
  );

  test('deletes the one item of a partition where the table has no sort key', async () => {
    const name = newName();
    await system.partitions.create(name, { partitionKey: { name: 'key', type: 'S' } });
    await system.partitions.tables.put(
      name,
      ['a', 'b', 'c'].map((key) => ({ key: { S: key } })),
    );

    await system.createJob(name, { tableName: name, partitionValue: 'b' });

    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 1 });
    const left = (key: string) => system.partitions.tables.count(name, 'key', { S: key });
    expect([await left('a'), await left('b'), await left('c')]).toEqual([1, 0, 1]);
  });

  test('completes on a partition that is empty already', async () => {
    const name = newName();
    await system.partitions.fill(name, { neighbour: 5 });
    await system.createJob(name, { tableName: name, partitionValue: 'mine' });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({
      deletedItems: 0,
      message: 'deleted 0 items; the partition is empty',
    });
    expect(await system.partitions.left(name, 'neighbour')).toBe(5);
  });

  test('tells the truth in its status and its Events', async () => {
    const name = newName();
    const startedAt = Math.floor(Date.now() / 1000) * 1000;
    await completedJob(name, 60);

    const job = await system.getJob(name);
    const status = await system.jobStatus(name);
    expect(status).toMatchObject({
      phase: 'Completed',
      deletedItems: 60,
      consumedWriteUnits: 60,
      consumedReadUnits: expect.any(Number),
      message: 'deleted 60 items; the partition is empty',
      observedGeneration: job?.metadata.generation,
      target: {
        tableName: name,
        partitionValue: 'mine',
        awsRegion: 'us-east-1',
        dryRun: false,
      },
    });
    expect(status).not.toHaveProperty('run');
    expect(status).not.toHaveProperty('deletedItemsExact');
    expect(status.consumedReadUnits).toBeGreaterThan(0);
    expect(readyOf(status)).toMatchObject({
      status: 'True',
      reason: 'Completed',
      message: status.message,
      observedGeneration: job?.metadata.generation,
    });
    const [start = 0, end = 0] = [status.startTime, status.completionTime].map((time) =>
      Date.parse(time ?? ''),
    );
    expect(start).toBeGreaterThanOrEqual(startedAt);
    expect(end).toBeGreaterThanOrEqual(start);
    expect(end).toBeLessThanOrEqual(Date.now());
    expect(job?.metadata.finalizers).toBeUndefined();

    const events = await system.eventsReach(name, 2);
    expect(events.map(({ reason }) => reason)).toEqual(['Deleting', 'Completed']);
    expect(events.map(({ type }) => type)).toEqual(['Normal', 'Normal']);
    expect(events[1]?.note).toBe(status.message);
  });

  test('shows phase, table, count and message in the columns of kubectl get', async () => {
    const name = newName();
    await completedJob(name, 7);
    const { columnDefinitions, rows } = await system.tableOf(name);
    const row = Object.fromEntries(
      columnDefinitions.map(({ name: column }, index) => [column, rows[0]?.cells[index]]),
    );
    expect(row).toMatchObject({
      Name: name,
      Phase: 'Completed',
      Table: name,
      Deleted: 7,
      Message: 'deleted 7 items; the partition is empty',
    });
    expect(row['Age']).toMatch(/^\d+s$/);
    const wide = columnDefinitions.filter(({ priority }) => priority > 0);
    expect(wide.map(({ name: column }) => column)).toEqual(['Message']);
  });
});

describe('a completed job', () => {
  test('deletes and writes nothing when it is reconciled again by hand or by resync', async () => {
    const name = newName();
    await completedJob(name);
    await system.partitions.add(name, 'mine', 12);
    const version = await versionOf(name);

    const { failed, payload } = await system.reconcileByHand(name);
    expect(failed).toBe(false);
    expect(payload).toMatchObject({ outcome: 'done', status: { deletedItems: 30 } });
    await system.resync(name);
    await system.resync(name);

    expect(await versionOf(name)).toBe(version);
    expect(await system.partitions.left(name, 'mine')).toBe(12);
  });

  test('echoes a requested reconcile and deletes nothing', async () => {
    const name = newName();
    await completedJob(name);
    await system.partitions.add(name, 'mine', 12);
    const before = await system.jobStatus(name);

    const annotations = { [ANNOTATION_RECONCILE_REQUESTED_AT]: 'now, please' };
    await system.patchJob(name, { metadata: { annotations } });

    const after = await system.jobReaches(
      name,
      ({ lastHandledReconcileAt }) => lastHandledReconcileAt === 'now, please',
    );
    expect(after).toEqual({ ...before, lastHandledReconcileAt: 'now, please' });
    expect(await system.partitions.left(name, 'mine')).toBe(12);
    await system.staysAsItIs(name, 1);
  });

  test('does not delete again when only an option changes', async () => {
    const name = newName();
    await completedJob(name);
    await system.partitions.add(name, 'mine', 12);
    const before = await system.jobStatus(name);
    const options = [
      { ttlSecondsAfterFinished: 3_600 },
      { suspend: true },
      { suspend: false },
      { maxWriteUnitsPerSecond: 5 },
      { maxItems: 1 },
    ];
    for (const spec of options) {
      const { metadata } = await system.patchJob(name, { spec });
      const after = await system.jobReaches(
        name,
        ({ observedGeneration }) => observedGeneration === metadata.generation,
      );
      expect(after).toMatchObject({
        phase: 'Completed',
        deletedItems: 30,
        message: before.message,
        completionTime: before.completionTime,
      });
      expect(readyOf(after)).toMatchObject({ status: 'True', reason: 'Completed' });
    }
    expect(await system.partitions.left(name, 'mine')).toBe(12);
  });

  test('starts anew when its target changes, and counts from 0', async () => {
    const name = newName();
    await completedJob(name);
    const { metadata } = await system.patchJob(name, { spec: { partitionValue: 'neighbour' } });
    const status = await system.jobReaches(
      name,
      ({ phase, observedGeneration }) =>
        phase === 'Completed' && observedGeneration === metadata.generation,
    );
    expect(status).toMatchObject({
      deletedItems: 10,
      consumedWriteUnits: 10,
      target: { partitionValue: 'neighbour' },
    });
    expect(await system.partitions.left(name, 'neighbour')).toBe(0);
  });

  test('can be paused and unpaused, which leaves no trace', async () => {
    const name = newName();
    await completedJob(name);
    const before = await system.jobStatus(name);
    await pause(name, '');
    await system.jobReaches(name, isPaused);
    await pause(name, null);
    const after = await system.jobReaches(name, (status) => !isPaused(status));
    expect(after).toEqual(before);
    await system.staysAsItIs(name, 1);
  });

  test('runs again when it is deleted and created once more', async () => {
    const name = newName();
    await completedJob(name);
    await system.partitions.add(name, 'mine', 12);
    await system.deleteJob(name);
    await system.createJob(name, { tableName: name, partitionValue: 'mine' });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 12 });
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });
});

const isPaused = ({ conditions = [] }: JobState): boolean =>
  conditions.some(({ type, status }) => type === 'Paused' && status === 'True');

const pause = (name: string, value: string | null) =>
  system.patchJob(name, { metadata: { annotations: { [ANNOTATION_PAUSED]: value } } });

describe('a job in mid-work', () => {
  const SLOW = { latencyMs: 400 };
  let proxy: FaultProxy;
  beforeAll(async () => {
    proxy = await startFaultProxy(system.dynamodb);
  });
  afterAll(() => proxy?.stop());

  /** A job on a partition of `items`, slow enough to be met in the middle of it; resolves there. */
  async function jobInMidWork(name: string, items = 3_000): Promise<void> {
    proxy.set(SLOW);
    await system.partitions.fill(name, { mine: items, other: 50 });
    await system.createJob(name, {
      tableName: name,
      partitionValue: 'mine',
      endpointURL: proxy.url,
    });
    const { deletedItems = 0 } = await system.jobReaches(
      name,
      (status) => (status.deletedItems ?? 0) > 0,
    );
    expect(deletedItems).toBeLessThan(items);
  }

  const countStandsStill = async (name: string) => {
    const counts: number[] = [];
    return until(
      async () => {
        counts.unshift(await system.partitions.left(name, 'mine'));
        await delay(500);
        const last = counts.slice(0, 4);
        return last.length === 4 && new Set(last).size === 1 ? last[0] : undefined;
      },
      { seconds: 12, what: async () => `the items of ${name} to stand still: ${counts.join()}` },
    );
  };

  test('counts every item once, however often it is reconciled by hand at the same time', async () => {
    const name = newName();
    const items = 8_000;
    await jobInMidWork(name, items);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => system.reconcileByHand(name)),
      );
      for (const { payload } of answers)
        expect(payload).toMatchObject({
          outcome: 'requeue',
          reason: expect.stringContaining('another run is at work until '),
        });
    }
    proxy.set({});
    const status = await system.jobReaches(name, isCompleted);
    expect(status).toMatchObject({ deletedItems: items, consumedWriteUnits: items });
    expect(status).not.toHaveProperty('deletedItemsExact');
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });

  test('counts every item once when several runs by hand begin it together', async () => {
    const name = newName();
    proxy.set({ latencyMs: 100 });
    await system.partitions.fill(name, { mine: 2_000 });
    const spec = { tableName: name, partitionValue: 'mine', endpointURL: proxy.url };
    await system.createJob(name, { ...spec, suspend: true });
    await system.jobReaches(name, ({ phase }) => phase === 'Suspended');

    const resumed = system.patchJob(name, { spec: { suspend: false } });
    await Promise.all([resumed, ...Array.from({ length: 6 }, () => system.reconcileByHand(name))]);
    const status = await system.jobReaches(name, isCompleted);
    expect(status).toMatchObject({ deletedItems: 2_000, consumedWriteUnits: 2_000 });
    expect(status).not.toHaveProperty('deletedItemsExact');
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });

  test('stops within seconds when it is deleted, and goes without a finalizer', async () => {
    const name = newName();
    await jobInMidWork(name);
    expect((await system.getJob(name))?.metadata.finalizers).toBeUndefined();
    await system.deleteJob(name);
    await system.jobIsGone(name, 5);
    expect(await countStandsStill(name)).toBeGreaterThan(0);
  });

  test('hands over to a new one of the same name, which counts what it finds', async () => {
    const name = newName();
    await jobInMidWork(name);
    await system.deleteJob(name);
    const left = await countStandsStill(name);
    proxy.set({});
    await system.createJob(name, { tableName: name, partitionValue: 'mine' });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: left });
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });

  test('is followed at once by a new one of the same name, and none is left', async () => {
    const name = newName();
    await jobInMidWork(name);
    await system.deleteJob(name);
    await system.createJob(name, { tableName: name, partitionValue: 'mine' });
    const { deletedItems = 0 } = await system.jobReaches(name, isCompleted);
    expect(deletedItems).toBeGreaterThan(0);
    expect(deletedItems).toBeLessThan(3_000);
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });

  test('leaves the old target when the spec names another, which gets its own exact count', async () => {
    const name = newName();
    await jobInMidWork(name);
    await system.patchJob(name, { spec: { partitionValue: 'other' } });
    const status = await system.jobReaches(
      name,
      ({ phase, target }) => phase === 'Completed' && target?.partitionValue === 'other',
    );
    expect(status).toMatchObject({ deletedItems: 50, consumedWriteUnits: 50 });
    expect(await system.partitions.left(name, 'other')).toBe(0);
    expect(await countStandsStill(name)).toBeGreaterThan(0);
  });

  test('is stopped by a pause, says so, and goes on to the exact total', async () => {
    const name = newName();
    await jobInMidWork(name);
    await pause(name, '2026-01-01');
    const paused = await system.jobReaches(name, isPaused);
    expect(paused).not.toHaveProperty('run');
    const left = await countStandsStill(name);
    expect(left).toBe(3_000 - (paused.deletedItems ?? 0));
    await system.reconcileByHand(name);
    expect(await system.jobStatus(name)).toEqual(paused);

    proxy.set({});
    await pause(name, null);
    const status = await system.jobReaches(name, isCompleted);
    expect(isPaused(status)).toBe(false);
    expect(status).toMatchObject({ deletedItems: 3_000, consumedWriteUnits: 3_000 });
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });

  describe('by hand', () => {
    /** A job that the queue looks at again only in ten seconds, begun by hand before that. */
    async function jobByHand(name: string): Promise<{ readonly answer: Promise<unknown> }> {
      proxy.set(SLOW);
      const spec = { tableName: name, partitionValue: 'mine', endpointURL: proxy.url };
      await system.createJob(name, spec);
      await system.jobReaches(name, (status) => readyOf(status)?.reason === 'TableNotFound');
      await system.partitions.fill(name, { mine: 3_000, other: 50 });
      const answer = system.reconcileByHand(name);
      await system.jobReaches(name, (status) => (status.deletedItems ?? 0) > 0);
      return { answer };
    }

    test('leaves the old target when the spec names another', async () => {
      const name = newName();
      await jobByHand(name);
      await system.patchJob(name, { spec: { partitionValue: 'other' } });
      const status = await system.jobReaches(
        name,
        ({ phase, target }) => phase === 'Completed' && target?.partitionValue === 'other',
      );
      expect(status).toMatchObject({ deletedItems: 50, consumedWriteUnits: 50 });
      expect(await countStandsStill(name)).toBeGreaterThan(0);
    });

    test('goes on to the exact total when another reconcile is asked for meanwhile', async () => {
      const name = newName();
      await jobByHand(name);
      const annotations = { [ANNOTATION_RECONCILE_REQUESTED_AT]: 'now' };
      await system.patchJob(name, { metadata: { annotations } });
      const status = await system.jobReaches(name, isCompleted);
      expect(status).toMatchObject({ deletedItems: 3_000, consumedWriteUnits: 3_000 });
      expect(status).not.toHaveProperty('deletedItemsExact');
    });

    test('is stopped by a pause and goes on to the exact total', async () => {
      const name = newName();
      await jobByHand(name);
      await pause(name, 'yes');
      await system.jobReaches(name, isPaused);
      const left = await countStandsStill(name);
      expect(left).toBeGreaterThan(0);
      proxy.set({});
      await pause(name, null);
      const status = await system.jobReaches(name, isCompleted);
      expect(status).toMatchObject({ deletedItems: 3_000, consumedWriteUnits: 3_000 });
      expect(status).not.toHaveProperty('deletedItemsExact');
    });
  });
});
