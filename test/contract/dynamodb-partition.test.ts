import '../helpers/dynamodb-credentials.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countPartition } from '../../functions/ddbctldpjob/count-partition.ts';
import { deletePartition } from '../../functions/ddbctldpjob/delete-partition.ts';
import { createPartitionTable } from '../../functions/ddbctldpjob/dynamo.ts';
import type { KeyType, KeyValue, PageQuery } from '../../functions/ddbctldpjob/table.ts';
import type { DynamoDbServer } from '../../local/dynamodb/server.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import { engines } from '../helpers/dynamodb-engines.ts';
import { startFaultProxy } from '../helpers/dynamodb-fault-proxy.ts';
import {
  createTestTables,
  type Item,
  keyValue,
  type TestTables,
} from '../helpers/dynamodb-tables.ts';

const { signal } = new AbortController();
const types: readonly KeyType[] = ['S', 'N', 'B'];
const shapes = types.flatMap((type) => [
  { type, sort: undefined },
  ...types.map((sort) => ({ type, sort })),
]);

describe.each(engines)('on $name', ({ start, missing }) => {
  describe.skipIf(missing !== undefined)('a partition table', () => {
    let server: DynamoDbServer;
    let tables: TestTables;

    beforeAll(async () => {
      server = await start();
      tables = createTestTables(server.url);
    }, 180_000);
    afterAll(() => server?.stop());

    const open = async (tableName: string, value: KeyValue, endpoint = server.url) => {
      const table = createPartitionTable({ tableName, region: 'us-east-1', endpoint });
      return table.partition(await table.describe(signal), value);
    };

    /** A table `name` with the keys `id` and `at`, `mine` items in partition "mine", and ten in each of two neighbours. */
    async function fill(name: string, mine: number, payload = 'x'): Promise<void> {
      const partitionKey = { name: 'id', type: 'S' as const };
      await tables.create(name, { partitionKey, sortKey: { name: 'at', type: 'N' } });
      const items = (id: string, count: number): Item[] =>
        Array.from({ length: count }, (_, at) => ({
          id: { S: id },
          at: { N: String(at) },
          payload: { S: payload },
        }));
      await tables.put(name, [...items('mine', mine), ...items('min', 10), ...items('mine2', 10)]);
    }
    const left = (name: string, id = 'mine') => tables.count(name, 'id', { S: id });
    const neighboursLeft = async (name: string) =>
      (await left(name, 'min')) + (await left(name, 'mine2'));

    test.each(shapes)(
      'is emptied of one partition: partition key $type, sort key $sort',
      async (shape) => {
        const name = `shape-${shape.type}-${shape.sort ?? 'none'}`;
        const partitionKey = { name: shape.sort === 'N' ? 'order.by' : 'name', type: shape.type };
        const sortKey = shape.sort && {
          name: shape.sort === 'B' ? 'a b' : 'count',
          type: shape.sort,
        };
        await tables.create(name, { partitionKey, ...(sortKey && { sortKey }) });
        const perPartition = sortKey ? 60 : 1;
        const items = [1, 2, 3].flatMap((partition) =>
          Array.from(
            { length: perPartition },
            (_, index): Item => ({
              [partitionKey.name]: keyValue(shape.type, partition),
              ...(sortKey && { [sortKey.name]: keyValue(sortKey.type, index) }),
              size: { N: '1' },
            }),
          ),
        );
        await tables.put(name, items);

        const value = keyValue(shape.type, 2);
        const table = createPartitionTable({
          tableName: name,
          region: 'us-east-1',
          endpoint: server.url,
        });
        const keys = await table.describe(signal);
        expect(keys).toMatchObject({ partitionKey, ...(sortKey && { sortKey }), status: 'ACTIVE' });
        const partition = table.partition(keys, value);
        expect(await countPartition(partition, { clock, signal })).toMatchObject({
          count: perPartition,
          complete: true,
        });
        const result = await deletePartition(partition, { clock, signal });
        expect(result).toMatchObject({ deleted: perPartition, exact: true, finished: true });
        expect(result.writeUnits).toBeGreaterThanOrEqual(perPartition);

        const count = (number: number) =>
          tables.count(name, partitionKey.name, keyValue(shape.type, number));
        expect([await count(1), await count(2), await count(3)]).toEqual([
          perPartition,
          0,
          perPartition,
        ]);
      },
    );

    test('is read in stretches of its sort keys, whether or not an item lies on a cut', async () => {
      await fill('stretches', 40);
      const partition = await open('stretches', { S: 'mine' });
      const names = async (query: Partial<PageQuery>) =>
        (await partition.page({ signal, ...query })).keys.map((key) => ('N' in key ? key.N : ''));
      expect(await names({ backward: true, limit: 1 })).toEqual(['39']);
      expect(await names({ upTo: { N: '3' } })).toEqual(['0', '1', '2', '3']);
      expect(await names({ after: { N: '2.5' }, upTo: { N: '4.5' } })).toEqual(['3', '4']);
      expect(await names({ after: { N: '37' } })).toEqual(['38', '39']);
      expect(await names({ after: { N: '-1e3' }, upTo: { N: '0.5' } })).toEqual(['0']);
    });

    test('without a sort key tells whether there was an item', async () => {
      const partitionKey = { name: 'id', type: 'S' as const };
      await tables.create('only-items', { partitionKey });
      await tables.put('only-items', [{ id: { S: 'a' } }, { id: { S: 'b' } }]);
      const partition = await open('only-items', { S: 'a' });
      expect(await partition.deleteOnlyItem?.(signal)).toMatchObject({ existed: true });
      expect(await partition.deleteOnlyItem?.(signal)).toMatchObject({ existed: false });
      expect(await tables.count('only-items', 'id', { S: 'b' })).toBe(1);
      const proxy = await startFaultProxy(server.url, { lostReply: 1 });
      const behind = await open('only-items', { S: 'b' }, proxy.url).catch(() => undefined);
      expect(behind).toBeUndefined();
      proxy.set({});
      const reached = await open('only-items', { S: 'b' }, proxy.url);
      proxy.set({ lostReply: 1 });
      setTimeout(() => proxy.set({}), 100);
      const result = await deletePartition(reached, { clock, signal });
      // It was gone at the second try: perhaps by the first, perhaps by somebody else.
      expect(result).toMatchObject({ deleted: 0, exact: false, finished: true });
      await proxy.stop();
    });

    test('is read in pages of 1 MB, and none of them is missed', async () => {
      await fill('large-items', 600, 'x'.repeat(5_000));
      const partition = await open('large-items', { S: 'mine' });
      const first = await partition.page({ signal, consistent: true });
      const cheap = await partition.page({ signal });
      expect(cheap.readUnits).toBe(first.readUnits / 2);
      expect(first.keys.length).toBeLessThan(300);
      expect(first.next).toBeDefined();
      expect(first.readUnits).toBeGreaterThan(200);
      expect(await countPartition(partition, { clock, signal })).toMatchObject({ count: 600 });
      const result = await deletePartition(partition, { clock, signal });
      expect(result).toMatchObject({ deleted: 600, exact: true, finished: true });
      expect(result.writeUnits).toBeGreaterThanOrEqual(600 * 5);
      expect([await left('large-items'), await neighboursLeft('large-items')]).toEqual([0, 20]);
    });

    test('is left alone if the partition is empty', async () => {
      await fill('nothing-there', 0);
      const partition = await open('nothing-there', { S: 'mine' });
      const result = await deletePartition(partition, { clock, signal });
      expect(result).toMatchObject({ deleted: 0, writeUnits: 0, finished: true });
      expect(await neighboursLeft('nothing-there')).toBe(20);
    });

    test('is counted no further than needed', async () => {
      await fill('counted', 100);
      const partition = await open('counted', { S: 'mine' });
      const count = (limit: number) => countPartition(partition, { clock, signal, limit });
      expect(await count(40)).toMatchObject({ count: 41, complete: false });
      expect(await count(100)).toMatchObject({ count: 100, complete: true });
    });

    test('fails with TableNotFound if there is no such table, before or while it works', async () => {
      const table = createPartitionTable({
        tableName: 'no-such-table',
        region: 'us-east-1',
        endpoint: server.url,
      });
      const failing = table.describe(signal);
      await expect(failing).rejects.toBeInstanceOf(TransientError);
      await expect(failing).rejects.toMatchObject({
        reason: 'TableNotFound',
        message: `table "no-such-table" in us-east-1 at ${new URL(server.url).host} does not exist`,
      });
      const keys = { partitionKey: { name: 'id', type: 'S' }, status: 'ACTIVE' } as const;
      const partition = table.partition(keys, { S: 'mine' });
      const result = await deletePartition(partition, { clock, signal });
      expect(result).toMatchObject({ finished: false, failure: { reason: 'TableNotFound' } });
    });

    test("fails with RequestRejected and DynamoDB's own words if the request itself is wrong", async () => {
      await fill('rejecting', 1);
      const partition = await open('rejecting', { N: '5' });
      const failing = partition.page({ signal });
      await expect(failing).rejects.toBeInstanceOf(TerminalError);
      await expect(failing).rejects.toMatchObject({ reason: 'RequestRejected' });
      await expect(failing).rejects.toThrow(/Query on table "rejecting" in us-east-1 .*type/i);
    });

    test('is emptied and counted exactly through 30 % unprocessed and 10 % failing calls', async () => {
      await fill('faulty', 3_000);
      const faults = { unprocessed: 0.3, throttle: 0.05, serverError: 0.05 };
      const proxy = await startFaultProxy(server.url, faults);
      const partition = await open('faulty', { S: 'mine' }, proxy.url);
      const result = await deletePartition(partition, { clock, signal });
      expect(result).toMatchObject({ deleted: 3_000, exact: true, finished: true });
      expect([await left('faulty'), await neighboursLeft('faulty')]).toEqual([0, 20]);
      expect(proxy.faults.unprocessed).toBeGreaterThan(500);
      expect(proxy.faults.throttle + proxy.faults.serverError).toBeGreaterThan(5);
      await proxy.stop();
    }, 30_000);

    test('is counted exactly through resets, lost replies and hung calls, over stopped runs', async () => {
      await fill('lossy', 2_000);
      const faults = { reset: 0.04, lostReply: 0.1, hang: 0.01, unprocessed: 0.1, latencyMs: 5 };
      const proxy = await startFaultProxy(server.url, faults, 7);
      const partition = await open('lossy', { S: 'mine' }, proxy.url);
      let deleted = 0;
      for (let finished = false; !finished; ) {
        const stop = AbortSignal.timeout(150);
        const result = await deletePartition(partition, { clock, signal: stop, graceMs: 8_000 });
        expect(result).toMatchObject({ exact: true });
        deleted += result.deleted;
        finished = result.finished;
        expect(deleted).toBe(2_000 - (await left('lossy')));
      }
      expect([deleted, await left('lossy'), await neighboursLeft('lossy')]).toEqual([2_000, 0, 20]);
      expect(proxy.faults.lostReply).toBeGreaterThan(3);
      await proxy.stop();
    }, 60_000);
  });
});
