import { expect, test } from 'vitest';
import { countPartition } from '../../functions/ddbctldpjob/count-partition.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { drive } from '../helpers/dynamodb-drive.ts';
import { createMemoryPartition, itemNames } from '../helpers/dynamodb-memory-table.ts';

function createWorld(items: number) {
  const clock = createVirtualClock();
  const random = seededRandom(items);
  const partition = createMemoryPartition(itemNames(items), { clock, random, pageSize: 100 });
  const { signal } = new AbortController();
  const count = (limit?: number) =>
    drive(clock, countPartition(partition, { clock, random, signal, limit }));
  return { clock, partition, count };
}

test('counts every page, and keeps its hands off the items', async () => {
  const { partition, count } = createWorld(950);
  partition.faults = { throttle: 0.3, serverError: 0.2 };
  expect(await count()).toEqual({ count: 950, complete: true, readUnits: 237.5 });
  expect(partition.items.size).toBe(950);
});

test('stops as soon as there are more than the limit, and not one item earlier', async () => {
  expect(await createWorld(950).count(250)).toMatchObject({ count: 251, complete: false });
  expect(await createWorld(250).count(250)).toMatchObject({ count: 250, complete: true });
  expect(await createWorld(0).count(0)).toMatchObject({ count: 0, complete: true });
  expect(await createWorld(2).count(0)).toMatchObject({ count: 1, complete: false });
});

test('says "at least" if it is stopped', async () => {
  const { clock, partition } = createWorld(950);
  const stopping = new AbortController();
  void clock.sleep(10).then(() => stopping.abort());
  const counting = countPartition(partition, { clock, signal: stopping.signal });
  const { count, complete } = await drive(clock, counting);
  expect(complete).toBe(false);
  expect(count).toBeLessThan(950);
});

test('fails if nothing answers', async () => {
  const { partition, count } = createWorld(10);
  partition.faults = { serverError: 1 };
  await expect(count()).rejects.toMatchObject({ reason: 'DynamoDBUnavailable' });
});
