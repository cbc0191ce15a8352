import '../helpers/dynamodb-credentials.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../helpers/dynamodb-fault-proxy.ts';
import { createNames, type JobSystem, startJobSystem } from '../helpers/job-system.ts';
import { type JobState, readyOf } from '../helpers/system.ts';

const isCompleted = ({ phase }: JobState): boolean => phase === 'Completed';
const isFailed = ({ phase }: JobState): boolean => phase === 'Failed';
const isSuspended = ({ phase }: JobState): boolean => phase === 'Suspended';
const newName = createNames('option');

let system: JobSystem;
let proxy: FaultProxy;
beforeAll(async () => {
  system = await startJobSystem();
  proxy = await startFaultProxy(system.dynamodb);
});
afterAll(async () => {
  await proxy?.stop();
  await system?.stop();
});

/** A table of the job's name with so many items in partition "mine", and the job with these options. */
async function createJob(name: string, items: number, options: object): Promise<void> {
  await system.partitions.fill(name, { mine: items, neighbour: 10 });
  await system.createJob(name, { tableName: name, partitionValue: 'mine', ...options });
}

const left = (name: string) => system.partitions.left(name, 'mine');
const versionOf = async (name: string) => (await system.getJob(name))?.metadata.resourceVersion;

describe('dryRun', () => {
  test('counts and deletes nothing; set back to false, it deletes', async () => {
    const name = newName();
    await createJob(name, 120, { dryRun: true });
    const counted = await system.jobReaches(name, isCompleted);
    expect(counted).toMatchObject({
      matchedItems: 120,
      deletedItems: 0,
      message: 'dry run: 120 items would be deleted',
      target: { dryRun: true },
    });
    expect(counted).not.toHaveProperty('consumedWriteUnits');
    expect(readyOf(counted)).toMatchObject({ status: 'True', reason: 'Completed' });
    expect(await left(name)).toBe(120);

    await system.patchJob(name, { spec: { dryRun: false } });
    const deleted = await system.jobReaches(name, ({ target }) => target?.dryRun === false);
    expect(deleted.phase).toMatch(/Deleting|Completed/);
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({
      deletedItems: 120,
      message: 'deleted 120 items; the partition is empty',
    });
    expect(await left(name)).toBe(0);
    expect(await system.partitions.left(name, 'neighbour')).toBe(10);
  });

  test('counts an empty partition, and a single item', async () => {
    const [empty, single] = [newName(), newName()];
    await createJob(empty, 0, { dryRun: true });
    await createJob(single, 1, { dryRun: true });
    expect(await system.jobReaches(empty, isCompleted)).toMatchObject({ matchedItems: 0 });
    expect(await system.jobReaches(single, isCompleted)).toMatchObject({
      matchedItems: 1,
      message: 'dry run: 1 item would be deleted',
    });
  });
});

describe('a dry run by hand', () => {
  test('answers with a plan for a job that waits, and writes nothing', async () => {
    const name = newName();
    await createJob(name, 45, { suspend: true });
    await system.jobReaches(name, isSuspended);
    const version = await versionOf(name);

    const { failed, payload } = await system.reconcileByHand(name, { dryRun: true });

    expect(failed).toBe(false);
    expect(payload).toMatchObject({
      outcome: 'done',
      dryRun: true,
      reason: 'dry run: 45 items would be deleted',
      plan: [
        {
          action: 'none',
          subject: `items of partition "mine" of table "${name}"`,
          detail: '45 items; spec.suspend has them wait',
        },
      ],
    });
    expect(await versionOf(name)).toBe(version);
    expect(await left(name)).toBe(45);
  });

  test('says that a completed job has nothing to do', async () => {
    const name = newName();
    await createJob(name, 3, {});
    await system.jobReaches(name, isCompleted);
    const version = await versionOf(name);
    const { payload } = await system.reconcileByHand(name, { dryRun: true });
    expect(payload).toMatchObject({
      plan: [{ action: 'none', subject: 'this job is Completed' }],
    });
    expect(await versionOf(name)).toBe(version);
  });

  test('says why a job that cannot work would fail, and does not note it', async () => {
    const name = newName();
    await system.createJob(name, { tableName: name, partitionValue: 'x', suspend: true });
    await system.jobReaches(name, isSuspended);
    const version = await versionOf(name);
    const { payload } = await system.reconcileByHand(name, { dryRun: true });
    expect(payload).toMatchObject({
      outcome: 'waiting',
      reason: expect.stringContaining(`table "${name}"`),
    });
    expect(await versionOf(name)).toBe(version);
  });
});

describe('suspend', () => {
  test('keeps a job from starting until it is set back', async () => {
    const name = newName();
    await createJob(name, 80, { suspend: true });
    const suspended = await system.jobReaches(name, isSuspended);
    expect(suspended).toMatchObject({
      deletedItems: 0,
      message: 'suspended; deleted 0 items so far',
    });
    expect(suspended).not.toHaveProperty('startTime');
    expect(readyOf(suspended)).toMatchObject({ status: 'False', reason: 'Suspended' });
    await system.reconcileByHand(name);
    await system.resync(name);
    await system.staysAsItIs(name, 1);
    expect(await left(name)).toBe(80);

    await system.patchJob(name, { spec: { suspend: false } });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 80 });
    expect(await left(name)).toBe(0);
  });

  test('stops a job in mid-work, which goes on to the exact total afterwards', async () => {
    const name = newName();
    proxy.set({ latencyMs: 400 });
    await createJob(name, 3_000, { endpointURL: proxy.url });
    await system.jobReaches(name, ({ deletedItems = 0 }) => deletedItems > 0);
    await system.patchJob(name, { spec: { suspend: true } });
    const suspended = await system.jobReaches(name, isSuspended);
    const { deletedItems = 0, startTime } = suspended;
    expect(suspended).not.toHaveProperty('run');
    expect(await left(name)).toBe(3_000 - deletedItems);
    await system.staysAsItIs(name, 2);
    expect(await left(name)).toBe(3_000 - deletedItems);
    expect(deletedItems).toBeLessThan(3_000);

    proxy.set({});
    await system.patchJob(name, { spec: { suspend: false } });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({
      deletedItems: 3_000,
      consumedWriteUnits: 3_000,
      startTime,
    });
    expect(await left(name)).toBe(0);
  });
});

describe('maxItems', () => {
  test('refuses a larger partition once and for all, until it is raised', async () => {
    const name = newName();
    await createJob(name, 101, { maxItems: 100 });
    const failed = await system.jobReaches(name, isFailed);
    expect(failed.message).toBe(
      `partition "mine" of table "${name}" holds more than spec.maxItems = 100 items; nothing was deleted`,
    );
    expect(readyOf(failed)).toMatchObject({
      status: 'False',
      reason: 'TooManyItems',
      message: failed.message,
    });
    expect(failed).not.toHaveProperty('startTime');
    expect((await system.eventsReach(name, 1)).map(({ type, reason }) => [type, reason])).toEqual([
      ['Warning', 'TooManyItems'],
    ]);

    const version = await versionOf(name);
    const looks = system.reconcilesOf(name).length;
    await system.staysAsItIs(name, 3);
    expect(system.reconcilesOf(name)).toHaveLength(looks);
    await system.resync(name);
    await system.reconcileByHand(name);
    expect(await versionOf(name)).toBe(version);
    expect(await left(name)).toBe(101);

    await system.patchJob(name, { spec: { maxItems: 101 } });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 101 });
    expect(await left(name)).toBe(0);
  });

  test('allows exactly as many, and 0 an empty partition', async () => {
    const [exact, empty, refused] = [newName(), newName(), newName()];
    await createJob(exact, 40, { maxItems: 40 });
    await createJob(empty, 0, { maxItems: 0 });
    await createJob(refused, 1, { maxItems: 0 });
    expect(await system.jobReaches(exact, isCompleted)).toMatchObject({ deletedItems: 40 });
    expect(await system.jobReaches(empty, isCompleted)).toMatchObject({ deletedItems: 0 });
    expect(await system.jobReaches(refused, isFailed)).toMatchObject({ deletedItems: 0 });
    expect(await left(refused)).toBe(1);
  });

  test('does not stop a job that has begun, though it has fewer items to go', async () => {
    const name = newName();
    proxy.set({ latencyMs: 400 });
    await createJob(name, 2_500, { endpointURL: proxy.url, maxItems: 2_500 });
    await system.jobReaches(name, ({ deletedItems = 0 }) => deletedItems > 0);
    proxy.set({});
    await system.patchJob(name, { spec: { maxItems: 1 } });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 2_500 });
  });
});

describe('maxWriteUnitsPerSecond', () => {
  test('is kept', async () => {
    const name = newName();
    const limit = 100;
    const started = Date.now();
    await createJob(name, 600, { maxWriteUnitsPerSecond: limit });
    const { consumedWriteUnits = 0 } = await system.jobReaches(name, isCompleted);
    const seconds = (Date.now() - started) / 1000;
    expect(consumedWriteUnits).toBe(600);
    // Unused time of a quarter of a second may be caught up on.
    expect(consumedWriteUnits / (seconds + 0.25)).toBeLessThanOrEqual(limit * 1.1);
    expect(await left(name)).toBe(0);
  });

  test('can be lifted in mid-work', async () => {
    const name = newName();
    await createJob(name, 1_000, { maxWriteUnitsPerSecond: 10 });
    await system.jobReaches(name, ({ deletedItems = 0 }) => deletedItems > 0);
    await system.patchJob(name, { spec: { maxWriteUnitsPerSecond: null } });
    expect(await system.jobReaches(name, isCompleted, 30)).toMatchObject({
      deletedItems: 1_000,
      consumedWriteUnits: 1_000,
    });
  });
});

describe('ttlSecondsAfterFinished', () => {
  test('removes a completed job when its time is over, and not before', async () => {
    const name = newName();
    await createJob(name, 20, { ttlSecondsAfterFinished: 4 });
    const { completionTime = '' } = await system.jobReaches(name, isCompleted);
    await system.jobIsGone(name);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(completionTime) + 4_000);
    expect(await left(name)).toBe(0);
  });

  test('removes a dry run, and none of the items it has counted', async () => {
    const name = newName();
    await createJob(name, 20, { ttlSecondsAfterFinished: 1, dryRun: true });
    await system.jobIsGone(name);
    expect(await left(name)).toBe(20);
  });

  test('removes a failed job too', async () => {
    const name = newName();
    await createJob(name, 20, { ttlSecondsAfterFinished: 2, maxItems: 1 });
    await system.jobReaches(name, isFailed);
    await system.jobIsGone(name);
    expect(await left(name)).toBe(20);
  });

  test('of 0 removes it at once, completed or failed', async () => {
    const [good, bad] = [newName(), newName()];
    await createJob(good, 20, { ttlSecondsAfterFinished: 0 });
    await createJob(bad, 20, { ttlSecondsAfterFinished: 0, maxItems: 1 });
    await system.jobIsGone(good, 10);
    await system.jobIsGone(bad, 10);
    expect(await left(good)).toBe(0);
    expect(await left(bad)).toBe(20);
    expect((await system.eventsOf(good)).map(({ reason }) => reason)).toContain('Completed');
    expect((await system.eventsOf(bad)).map(({ reason }) => reason)).toContain('TooManyItems');
  });

  test('may be added to a job that finished long ago', async () => {
    const [good, bad] = [newName(), newName()];
    await createJob(good, 5, {});
    await createJob(bad, 5, { maxItems: 1 });
    await system.jobReaches(good, isCompleted);
    await system.jobReaches(bad, isFailed);
    await system.patchJob(good, { spec: { ttlSecondsAfterFinished: 1 } });
    await system.patchJob(bad, { spec: { ttlSecondsAfterFinished: 1 } });
    await system.jobIsGone(good, 10);
    await system.jobIsGone(bad, 10);
    expect(await left(bad)).toBe(5);
  });

  test('may be raised while it runs', async () => {
    const name = newName();
    await createJob(name, 5, { ttlSecondsAfterFinished: 3 });
    await system.jobReaches(name, isCompleted);
    const { metadata } = await system.patchJob(name, { spec: { ttlSecondsAfterFinished: 3_600 } });
    await system.jobReaches(
      name,
      ({ observedGeneration }) => observedGeneration === metadata.generation,
    );
    await system.staysAsItIs(name, 4);
  });

  test('does not count for a job that is not finished', async () => {
    const name = newName();
    await createJob(name, 5, { ttlSecondsAfterFinished: 0, suspend: true });
    await system.jobReaches(name, isSuspended);
    await system.staysAsItIs(name, 2);
    expect(await left(name)).toBe(5);
  });
});
