import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DeletePartitionOptions,
  type DeletionProgress,
  type DeletionResult,
  deletePartition,
} from '../../functions/ddbctldpjob/delete-partition.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { TransientError } from '../../runtime/errors.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { drive } from '../helpers/dynamodb-drive.ts';
import {
  createMemoryPartition,
  itemNames,
  type MemoryFaults,
  type MemoryPartitionOptions,
} from '../helpers/dynamodb-memory-table.ts';

type WorldOptions = Partial<MemoryPartitionOptions> & { items: number; seed?: number };

function createWorld({ items, seed = 1, ...options }: WorldOptions) {
  const clock = createVirtualClock();
  const random = seededRandom(seed);
  const settings = { clock, random, pageSize: 1_000, ...options };
  const partition = createMemoryPartition(itemNames(items), settings);
  const stopping = new AbortController();
  const run = (more: Partial<DeletePartitionOptions> = {}): Promise<DeletionResult> =>
    drive(clock, deletePartition(partition, { clock, random, signal: stopping.signal, ...more }));
  const stopAfter = (milliseconds: number) =>
    void clock.sleep(milliseconds).then(() => stopping.abort());
  return { clock, partition, run, stopping, stopAfter };
}

const share = (max: number) => fc.double({ min: 0, max, noNaN: true });
const anyFaults: fc.Arbitrary<MemoryFaults> = fc.record({
  unprocessed: share(0.6),
  throttle: share(0.3),
  serverError: share(0.2),
  lostReply: share(0.2),
  hang: share(0.05),
});
const anyWorld = fc.record({
  items: fc.integer({ min: 0, max: 700 }),
  seed: fc.integer(),
  pageSize: fc.integer({ min: 1, max: 400 }),
});

describe('deletion of a partition', () => {
  test('needs one read to see that an empty partition is empty', async () => {
    const { partition, run } = createWorld({ items: 0 });
    expect(await run()).toMatchObject({ deleted: 0, exact: true, finished: true, readUnits: 1 });
    expect(partition.deleteCalls).toEqual([]);
  });

  test('draws full batches across pages and makes no needless call', async () => {
    const { partition, run } = createWorld({ items: 1_010, pageSize: 30 });
    expect(await run()).toMatchObject({ deleted: 1_010, writeUnits: 1_010, finished: true });
    expect(partition.seen.pageReads).toBe(35);
    expect(partition.items.size).toBe(0);
    expect(partition.deleteCalls.map(({ keys }) => keys.length)).toEqual([
      ...Array(40).fill(25),
      10,
    ]);
  });

  test('keeps eight batches in flight, and as many as it is told', async () => {
    const wide = createWorld({ items: 2_000 });
    await wide.run();
    expect(wide.partition.seen.maxDeletesInFlight).toBe(8);
    const narrow = createWorld({ items: 500 });
    await narrow.run({ batchesInFlight: 2 });
    expect(narrow.partition.seen.maxDeletesInFlight).toBe(2);
  });

  test('holds about two pages of keys however many there are', async () => {
    const { partition, run } = createWorld({ items: 10_000, pageSize: 500, latencyMs: 100 });
    expect(await run()).toMatchObject({ deleted: 10_000, finished: true });
    expect(partition.seen.maxKeysHeld).toBeLessThanOrEqual(2 * 500 + 16 * 25);
  });

  test('leaves nothing and counts exactly under any mix of faults, with bounded memory', async () => {
    const property = fc.asyncProperty(anyWorld, anyFaults, async (options, faults) => {
      const { partition, run } = createWorld(options);
      partition.faults = faults;
      let deleted = 0;
      for (let finished = false; !finished; ) {
        const result = await run({ graceMs: 600_000 });
        // Giving up is fair under enough bad luck; losing count is not, with a grace period without end.
        if (result.exact === false) expect(result.failure).toBeDefined();
        deleted += result.deleted;
        finished = result.finished;
        if (!result.exact) return;
      }
      expect(partition.items.size).toBe(0);
      expect(deleted).toBe(options.items);
      expect(partition.seen.maxDeletesInFlight).toBeLessThanOrEqual(4 * 8);
      const buffered = Math.max(400, options.pageSize) + options.pageSize;
      expect(partition.seen.maxKeysHeld).toBeLessThanOrEqual(4 * buffered + 2 * 16 * 25);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('goes on where the run before it was stopped, and the counts add up', async () => {
    const stops = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 8 });
    const graces = fc.integer({ min: 0, max: 6_000 });
    const property = fc.asyncProperty(anyWorld, anyFaults, stops, graces, async (...given) => {
      const [options, faults, stopTimes, graceMs] = given;
      const { clock, partition, run } = createWorld(options);
      partition.faults = faults;
      let deleted = 0;
      let exact = true;
      for (const stopTime of stopTimes) {
        const stopping = new AbortController();
        const timer = clock.sleep(stopTime).then(() => stopping.abort());
        const result = await run({ signal: stopping.signal, graceMs });
        await drive(clock, timer);
        deleted += result.deleted;
        exact &&= result.exact;
        const gone = options.items - partition.items.size;
        if (exact) expect(deleted).toBe(gone);
        else expect(deleted).toBeLessThanOrEqual(gone);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('finds what others write meanwhile; finished means seen empty', async () => {
    const writes = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 60 });
    const property = fc.asyncProperty(anyWorld, writes, async (options, times) => {
      const { clock, partition, run } = createWorld(options);
      partition.faults = { unprocessed: 0.2, lostReply: 0.1 };
      const writing = times.map(async (time, index) => {
        await clock.sleep(time);
        partition.items.add(`item-by-another-${index}`);
      });
      const first = await run();
      expect(first.finished).toBe(true);
      await drive(clock, Promise.all(writing));
      const last = await run();
      expect(partition.items.size).toBe(0);
      expect(first.deleted + last.deleted).toBe(options.items + times.length);
    });
    await fc.assert(property, { numRuns: 30 });
  });
});

describe('a stopped deletion', () => {
  test('begins nothing when it is stopped before it starts', async () => {
    const { partition, run, stopping } = createWorld({ items: 100 });
    stopping.abort();
    expect(await run()).toMatchObject({ deleted: 0, exact: true, finished: false });
    expect(partition.deleteCalls).toEqual([]);
  });

  test('begins no batch after the signal, and only sends again what it has lost track of', async () => {
    const property = fc.asyncProperty(
      anyWorld,
      fc.integer({ min: 0, max: 300 }),
      async (...given) => {
        const [options, stopTime] = given;
        const { clock, partition, run, stopAfter } = createWorld(options);
        partition.faults = { unprocessed: 0.3, lostReply: 0.2, throttle: 0.1 };
        const stoppedAt = clock.now() + stopTime;
        stopAfter(stopTime);
        await run();
        const sentBefore = new Set(
          partition.deleteCalls.filter(({ at }) => at <= stoppedAt).flatMap(({ keys }) => keys),
        );
        const after = partition.deleteCalls.filter(({ at }) => at > stoppedAt);
        expect(after.flatMap(({ keys }) => keys).filter((key) => !sentBefore.has(key))).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: 50 });
  });

  test('uses the grace period to learn the fate of batches whose reply was lost', async () => {
    const { partition, run, clock, stopping } = createWorld({ items: 1_000 });
    // Not from the start: the first page must come through.
    void clock.sleep(15).then(() => {
      partition.faults = { lostReply: 1 };
    });
    void clock.sleep(40).then(() => {
      stopping.abort();
      partition.faults = {};
    });
    const result = await run({ graceMs: 10_000 });
    expect(result).toMatchObject({ exact: true, finished: false });
    expect(result.deleted).toBe(1_000 - partition.items.size);
    expect(result.deleted).toBeGreaterThan(0);
  });

  test('sends a batch again beside the one that hangs, and so knows its fate before the end', async () => {
    const { partition, run, clock, stopping } = createWorld({ items: 1_000 });
    void clock.sleep(15).then(() => {
      partition.faults = { hang: 1 };
    });
    void clock.sleep(40).then(() => {
      stopping.abort();
      partition.faults = {};
    });
    const startedAt = clock.now();
    // Much shorter than the three seconds after which a call that hangs is given up.
    const result = await run({ graceMs: 900 });
    expect(result).toMatchObject({ exact: true, finished: false });
    expect(result.deleted).toBe(1_000 - partition.items.size);
    expect(result.deleted).toBeGreaterThan(0);
    expect(clock.now() - startedAt).toBeLessThan(1_000);
  });

  test('says that its count is a lower bound if the grace period was too short', async () => {
    const { clock, partition, run, stopAfter } = createWorld({ items: 1_000 });
    void clock.sleep(15).then(() => {
      partition.faults = { lostReply: 1 };
    });
    stopAfter(40);
    const startedAt = clock.now();
    const result = await run({ graceMs: 500 });
    expect(result).toMatchObject({ exact: false, finished: false });
    expect(result.deleted).toBeLessThan(1_000 - partition.items.size);
    expect(clock.now() - startedAt).toBeLessThan(1_000);
  });

  test('stays in doubt about a lost batch of which the repetition was left unprocessed', async () => {
    const { clock, partition, run, stopAfter } = createWorld({ items: 150 });
    const { deleteKeys } = partition;
    partition.deleteKeys = (keys, signal) => {
      partition.faults = partition.deleteCalls.length < 6 ? { lostReply: 1 } : { unprocessed: 1 };
      return deleteKeys(keys, signal);
    };
    stopAfter(400);
    void clock.sleep(500).then(() => {
      partition.deleteKeys = deleteKeys;
      partition.faults = {};
    });
    const result = await run({ graceMs: 60_000 });
    expect(result.exact).toBe(true);
    expect(result.deleted).toBe(150 - partition.items.size);
    expect(result.deleted).toBeGreaterThan(0);
  });

  test('ends at once, with an exact count, if it was only waiting for a throttled table', async () => {
    const { clock, partition, run, stopAfter } = createWorld({ items: 1_000 });
    const startedAt = clock.now();
    stopAfter(60_000);
    partition.faults = { throttle: 1 };
    const result = await run();
    expect(result).toEqual({
      deleted: 0,
      writeUnits: 0,
      readUnits: 0,
      exact: true,
      finished: false,
    });
    expect(clock.now() - startedAt).toBeLessThan(61_000);
  });
});

describe('a deletion that cannot go on', () => {
  test('gives up when nothing answers any more, and tells what it had done', async () => {
    const { clock, partition, run } = createWorld({ items: 5_000 });
    void clock.sleep(50).then(() => {
      partition.faults = { serverError: 1 };
    });
    const result = await run();
    expect(result.failure).toBeInstanceOf(TransientError);
    expect(result.failure).toMatchObject({ reason: 'DynamoDBUnavailable' });
    expect(result).toMatchObject({ deleted: 5_000 - partition.items.size, finished: false });
    expect(result.deleted).toBeGreaterThan(0);
  });

  test('survives an outage of some seconds', async () => {
    const { clock, partition, run } = createWorld({ items: 5_000 });
    void clock.sleep(50).then(() => {
      partition.faults = { serverError: 1 };
    });
    void clock.sleep(1_000).then(() => {
      partition.faults = {};
    });
    expect(await run()).toMatchObject({ deleted: 5_000, exact: true, finished: true });
  });

  test('stops at once at an answer that says no, with an exact count', async () => {
    const { partition, run } = createWorld({ items: 500 });
    const refusal = new TransientError('AccessDenied', 'BatchWriteItem was denied');
    partition.faults = { refusal };
    expect(await run()).toMatchObject({
      deleted: 0,
      exact: true,
      finished: false,
      failure: refusal,
    });
    expect(partition.deleteCalls.length).toBeLessThanOrEqual(8);
  });

  test('throws what is a bug, after the batches in flight have ended', async () => {
    const { partition, run } = createWorld({ items: 500 });
    partition.page = () => Promise.reject(new TypeError('a bug'));
    await expect(run()).rejects.toThrow('a bug');
  });
});

describe('progress of a deletion', () => {
  const slow = { items: 4_000, latencyMs: 2_000 };

  test('is reported every two seconds while deletions go on', async () => {
    const { clock, run, partition } = createWorld(slow);
    const reports: { at: number; deleted: number }[] = [];
    const callsWhileReporting: number[] = [];
    await run({
      onProgress: async ({ deleted }) => {
        reports.push({ at: clock.now(), deleted });
        const before = partition.deleteCalls.length;
        await clock.sleep(3_000);
        callsWhileReporting.push(partition.deleteCalls.length - before);
        return true;
      },
    });
    expect(reports.length).toBeGreaterThan(2);
    const gaps = reports.slice(1).map(({ at }, index) => at - (reports[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...gaps)).toBeLessThan(5_500);
    expect(Math.max(...callsWhileReporting)).toBeGreaterThan(5);
    expect(reports.map(({ deleted }) => deleted)).toEqual(
      reports.map(({ deleted }) => deleted).sort((one, other) => one - other),
    );
  });

  test('stops the work if it is not wanted any more, also while nothing is answered', async () => {
    for (const faults of [{}, { throttle: 1 }, { hang: 1 }]) {
      const { clock, partition, run } = createWorld(slow);
      partition.faults = faults;
      const startedAt = clock.now();
      let calls = 0;
      const result = await run({ onProgress: () => Promise.resolve(++calls < 2), graceMs: 8_000 });
      expect(result.finished).toBe(false);
      expect(calls).toBe(2);
      if (result.exact) expect(result.deleted).toBe(4_000 - partition.items.size);
      expect(clock.now() - startedAt).toBeLessThan(13_000);
    }
  });

  test('that cannot be reported stops the work, and the error is thrown', async () => {
    const { partition, run } = createWorld(slow);
    const onProgress = () => Promise.reject(new Error('the API server is gone'));
    await expect(run({ onProgress })).rejects.toThrow('the API server is gone');
    expect(partition.items.size).toBeGreaterThan(0);
  });

  test('carries the same figures as the result', async () => {
    const { run } = createWorld(slow);
    let last: DeletionProgress | undefined;
    const result = await run({
      onProgress: (progress) => {
        last = progress;
        return Promise.resolve(true);
      },
    });
    expect(last?.deleted).toBeLessThanOrEqual(result.deleted);
    expect(last?.writeUnits).toBe(last?.deleted);
  });
});

describe('a deletion with maxWriteUnitsPerSecond', () => {
  test.each([
    { limit: 100, writeUnitsPerKey: 1, items: 2_000 },
    { limit: 100, writeUnitsPerKey: 10, items: 500 },
    { limit: 3, writeUnitsPerKey: 1, items: 60 },
  ])('of $limit, items of $writeUnitsPerKey units: uses all of it and no more', async (given) => {
    const { limit, items, writeUnitsPerKey } = given;
    const { partition, run } = createWorld({ items, writeUnitsPerKey });
    const result = await run({ maxWriteUnitsPerSecond: limit });
    expect(result).toMatchObject({ deleted: items, finished: true });
    const first = partition.deleteCalls[0]?.at ?? 0;
    const seconds = ((partition.deleteCalls.at(-1)?.at ?? 0) - first) / 1000;
    expect(result.writeUnits / seconds).toBeLessThan(limit * 1.1);
    expect(result.writeUnits / seconds).toBeGreaterThan(limit * 0.9);
  });

  test('sends no request that costs more than about a second of it', async () => {
    const { partition, run } = createWorld({ items: 400, writeUnitsPerKey: 40 });
    await run({ maxWriteUnitsPerSecond: 200 });
    const costs = partition.deleteCalls.map(({ keys }) => keys.length * 40);
    expect(Math.max(...costs)).toBeLessThanOrEqual(200);
  });
});
