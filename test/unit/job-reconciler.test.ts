import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ANNOTATION_RECONCILE_REQUESTED_AT } from '../../runtime/annotations.ts';
import { TransientError } from '../../runtime/errors.ts';
import { KubeApiError, KubeConnectionError } from '../../runtime/kube/client.ts';
import { createJobWorld, type Kill } from '../helpers/job-world.ts';

const spec = { tableName: 'orders', partitionValue: 'customer-42' };
const readyOf = ({ conditions = [] }: { conditions?: readonly object[] }) => conditions[0];

describe('a job that is killed and delivered again', () => {
  /** Long enough for several checkpoints a run, and for several runs. */
  const slow = { items: 3_000, latencyMs: 800, timeoutMs: 10_000 };

  test('needs several runs and reaches the exact count if none is killed', async () => {
    const world = createJobWorld(spec, slow);
    expect(await world.runToTheEnd()).toMatchObject({ phase: 'Completed', deletedItems: 3_000 });
    expect(world.status()).not.toHaveProperty('deletedItemsExact');
    expect(world.status()).not.toHaveProperty('run');
    expect(world.partition.items.size).toBe(0);
  });

  const writes = [1, 2, 3, 4, 5, 6];
  const kills = writes.flatMap((atWrite) => [
    { atWrite, stored: false },
    { atWrite, stored: true },
  ]);
  test.each(kills)(
    'at write $atWrite of a status (stored: $stored) leaves nothing behind',
    async (kill) => {
      const world = createJobWorld(spec, slow);
      const status = await world.runToTheEnd([kill]);
      expect(status.phase).toBe('Completed');
      expect(world.partition.items.size).toBe(0);
      if (status.deletedItemsExact === false) {
        expect(status.deletedItems).toBeLessThanOrEqual(slow.items);
        expect(status.message).toContain('at least ');
      } else expect(status.deletedItems).toBe(slow.items);
    },
  );

  test('before it claimed the job has deleted nothing, and the count is exact', async () => {
    const world = createJobWorld(spec, { items: 300 });
    expect(await world.run({ kill: { atWrite: 1, stored: false } })).toBeUndefined();
    expect(world.partition.items.size).toBe(300);
    expect(await world.runToTheEnd()).toMatchObject({ deletedItems: 300 });
    expect(world.status()).not.toHaveProperty('deletedItemsExact');
  });

  test('is never done with items left, and never claims a count that it cannot know', async () => {
    const kill: fc.Arbitrary<Kill> = fc.oneof(
      fc.record({ afterMs: fc.integer({ min: 0, max: 12_000 }) }),
      fc.record({ atWrite: fc.integer({ min: 1, max: 6 }), stored: fc.boolean() }),
    );
    const faults = fc.record({
      unprocessed: fc.double({ min: 0, max: 0.5, noNaN: true }),
      throttle: fc.double({ min: 0, max: 0.2, noNaN: true }),
      serverError: fc.double({ min: 0, max: 0.1, noNaN: true }),
      lostReply: fc.double({ min: 0, max: 0.1, noNaN: true }),
    });
    const scene = fc.record({
      items: fc.integer({ min: 0, max: 1_500 }),
      seed: fc.integer(),
      latencyMs: fc.integer({ min: 1, max: 1_500 }),
      timeoutMs: fc.integer({ min: 5_000, max: 30_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        scene,
        faults,
        fc.array(kill, { maxLength: 4 }),
        async (options, trouble, killed) => {
          const world = createJobWorld(spec, options);
          world.partition.faults = trouble;
          const status = await world.runToTheEnd(killed);
          expect(status.phase).toBe('Completed');
          expect(world.partition.items.size).toBe(0);
          if (status.deletedItemsExact === false)
            expect(status.deletedItems).toBeLessThanOrEqual(options.items);
          else expect(status.deletedItems).toBe(options.items);
          expect(status).not.toHaveProperty('run');
        },
      ),
      { numRuns: 40 },
    );
  });

  test('stays marked as inexact when the next run meets a table that is not there', async () => {
    const world = createJobWorld(spec, slow);
    await world.run({ kill: { afterMs: 3_500 } });
    expect(world.status().run).toBeDefined();
    await world.clock.advance(60_000);
    world.failDescribe(new TransientError('TableNotFound', 'table "orders" does not exist'));
    await world.run();
    expect(world.status()).toMatchObject({ phase: 'Pending', deletedItemsExact: false });
    world.failDescribe(undefined);
    const status = await world.runToTheEnd();
    expect(status).toMatchObject({ phase: 'Completed', deletedItemsExact: false });
    expect(status.message).toContain('at least ');
  });
});

describe('a job while another run is at work', () => {
  const busy = (until: string) => ({
    phase: 'Deleting' as const,
    target: { ...spec, awsRegion: 'us-east-1', dryRun: false },
    deletedItems: 7,
    startTime: '2026-01-01T00:00:00Z',
    run: { id: 'another', until },
  });

  test('deletes nothing, changes nothing, and comes back when the other must be over', async () => {
    const world = createJobWorld(spec, { items: 40 });
    world.setStatus(busy('2026-01-01T00:05:00Z'));
    const result = await world.run();
    expect(result?.requeue?.afterSeconds).toBe(301);
    expect(result?.requeue?.reason).toBe('another run is at work until 2026-01-01T00:05:00Z');
    expect(world.partition.items.size).toBe(40);
    expect(world.status()).toMatchObject(busy('2026-01-01T00:05:00Z'));
  });

  test('also leaves it alone if the spec names another target now', async () => {
    const world = createJobWorld({ ...spec, partitionValue: 'other' }, { items: 40 });
    world.setStatus(busy('2026-01-01T00:05:00Z'));
    expect(await world.run()).toHaveProperty('requeue');
    expect(world.partition.items.size).toBe(40);
  });

  test('takes over from a run that was killed, and says that the count is a lower bound', async () => {
    const world = createJobWorld(spec, { items: 40 });
    world.setStatus(busy('2025-12-31T23:59:59Z'));
    expect(await world.run()).not.toHaveProperty('requeue');
    expect(world.status()).toMatchObject({
      phase: 'Completed',
      deletedItems: 47,
      deletedItemsExact: false,
      startTime: '2026-01-01T00:00:00Z',
      message: 'deleted at least 47 items; the partition is empty',
    });
  });

  test('that has taken over writes nothing over it, and stops', async () => {
    const world = createJobWorld(spec, { items: 2_000, latencyMs: 1_500 });
    const running = world.run();
    await world.clock.advance(1_000);
    const other = busy('2026-01-01T00:05:00Z');
    world.setStatus(other);
    await running;
    expect(world.status()).toEqual(other);
    expect(world.partition.items.size).toBeGreaterThan(0);
  });

  test('that was quicker to claim it deletes nothing', async () => {
    const world = createJobWorld(spec, { items: 40 });
    const running = world.run();
    const other = busy('2026-01-01T00:05:00Z');
    world.setStatus(other);
    await running;
    expect(world.status()).toEqual(other);
    expect(world.partition.items.size).toBe(40);
  });

  test('answers a dry run by hand all the same', async () => {
    const world = createJobWorld(spec, { items: 40 });
    const status = busy('2026-01-01T00:05:00Z');
    world.setStatus(status);
    expect((await world.run({ dryRun: true }))?.plan).toEqual([
      {
        action: 'delete',
        subject: 'items of partition "customer-42" of table "orders"',
        detail: '40 items',
      },
    ]);
    expect(world.status()).toEqual(status);
    expect(world.partition.items.size).toBe(40);
  });
});

describe('a job whose status cannot be stored', () => {
  const slow = { items: 2_000, latencyMs: 1_500 };
  const gone = new KubeConnectionError('PATCH failed: connection refused');

  test('goes on if a report in between is missed, since the next one tells as much', async () => {
    const world = createJobWorld(spec, slow);
    await world.run({ outage: (checkpoint) => ([2, 3].includes(checkpoint) ? gone : undefined) });
    expect(world.status()).toMatchObject({ phase: 'Completed', deletedItems: 2_000 });
    expect(world.status()).not.toHaveProperty('deletedItemsExact');
  });

  test('stops when nobody could stop it any more, and the next one says what it cannot know', async () => {
    const world = createJobWorld(spec, { items: 20_000, latencyMs: 1_500 });
    const outage = (checkpoint: number) => (checkpoint > 1 ? gone : undefined);
    await expect(world.run({ outage })).rejects.toBe(gone);
    const left = world.partition.items.size;
    expect(left).toBeGreaterThan(0);
    expect(await world.runToTheEnd()).toMatchObject({
      phase: 'Completed',
      deletedItems: left,
      deletedItemsExact: false,
    });
  });

  test('does not begin if it cannot be claimed', async () => {
    const world = createJobWorld(spec, slow);
    await expect(world.run({ outage: () => gone })).rejects.toBe(gone);
    expect(world.partition.items.size).toBe(2_000);
  });

  test('stops at once if it is refused', async () => {
    const world = createJobWorld(spec, slow);
    const refused = new KubeApiError(403, 'Forbidden', 'no');
    const outage = (checkpoint: number) => (checkpoint > 1 ? refused : undefined);
    await expect(world.run({ outage })).rejects.toBe(refused);
    expect(world.partition.items.size).toBeGreaterThan(0);
  });
});

describe('a job that failed', () => {
  test('is not tried again until its spec changes or somebody asks', async () => {
    const world = createJobWorld({ ...spec, maxItems: 10 }, { items: 40 });
    await world.run();
    const failed = world.status();
    expect(failed).toMatchObject({ phase: 'Failed' });
    expect(readyOf(failed)).toMatchObject({ status: 'False', reason: 'TooManyItems' });
    world.partition.items.clear();
    await world.run();
    expect(world.status()).toEqual(failed);

    world.annotate({ [ANNOTATION_RECONCILE_REQUESTED_AT]: 'now' });
    await world.run();
    expect(world.status()).toMatchObject({ phase: 'Completed', deletedItems: 0 });
  });

  test('keeps the time of its failure when it fails again for the same reason', async () => {
    const world = createJobWorld({ ...spec, maxItems: 10 }, { items: 40 });
    await world.run();
    const { completionTime } = world.status();
    await world.clock.advance(10_000);
    world.changeSpec({ ttlSecondsAfterFinished: 3_600 });
    const result = await world.run();
    expect(world.status()).toMatchObject({ phase: 'Failed', completionTime });
    expect(result?.requeue?.afterSeconds).toBeCloseTo(3_590, 0);
  });

  test('asks to be removed at once if its time to live is 0', async () => {
    const options = { maxItems: 10, ttlSecondsAfterFinished: 0 };
    const world = createJobWorld({ ...spec, ...options }, { items: 40 });
    expect((await world.run())?.requeue).toMatchObject({ afterSeconds: 0 });
    expect(await world.run()).toMatchObject({ remove: 'ttlSecondsAfterFinished is over' });
  });

  test('shows no time of completion while it works again', async () => {
    const world = createJobWorld({ ...spec, maxItems: 10 }, { items: 2_000, latencyMs: 800 });
    await world.run();
    world.changeSpec({ maxItems: 5_000 });
    await world.run();
    const working = world.history.filter(({ phase }) => phase === 'Deleting');
    expect(working.length).toBeGreaterThan(1);
    for (const status of working) expect(status).not.toHaveProperty('completionTime');
    expect(world.status()).toMatchObject({ phase: 'Completed', deletedItems: 2_000 });
  });
});

describe('a dry run by hand', () => {
  const planOf = async (more: object, items = 40) => {
    const world = createJobWorld({ ...spec, ...more }, { items });
    const plan = (await world.run({ dryRun: true }))?.plan;
    expect(world.status()).toEqual({});
    expect(world.partition.items.size).toBe(items);
    return plan?.[0];
  };

  test('says what would be deleted, and what holds it back', async () => {
    expect(await planOf({})).toMatchObject({ action: 'delete', detail: '40 items' });
    expect(await planOf({}, 1)).toMatchObject({ action: 'delete', detail: '1 item' });
    expect(await planOf({}, 0)).toMatchObject({ action: 'none', detail: '0 items' });
    expect(await planOf({ maxItems: 40 })).toMatchObject({ action: 'delete' });
    expect(await planOf({ maxItems: 39 })).toMatchObject({
      action: 'none',
      detail: '40 items, more than spec.maxItems = 39: the job would fail',
    });
    expect(await planOf({ suspend: true })).toMatchObject({
      action: 'none',
      detail: '40 items; spec.suspend has them wait',
    });
    expect(await planOf({ dryRun: true })).toMatchObject({
      action: 'none',
      detail: '40 items; spec.dryRun has them counted only',
    });
  });
});
