import {
  BatchWriteItemCommand,
  DynamoDBClient,
  ProvisionedThroughputExceededException,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, startEngine } from '../../bench/engine.ts';
import { type ItemPlan, sortKeyOf, TARGET } from '../../bench/items.ts';
import type { RunSettings } from '../../bench/proxy/settings.ts';
import { type BenchTable, createBenchTable } from '../../bench/table.ts';
import { startDynalite } from '../../local/dynamodb/dynalite.ts';

const items: ItemPlan = { count: 40, bytes: 3_000 };
const noCap: RunSettings = { items, latencyMs: 0 };
const capOf = (units: number): RunSettings => ({
  ...noCap,
  // Too slow to bring anything while a test runs.
  cap: { timetable: [{ fromSecond: 0, unitsPerSecond: 0.001 }], burstUnits: units },
});

describe('the proxy of the bench', () => {
  let engine: Engine;
  let table: BenchTable;
  let client: DynamoDBClient;
  let tables = 0;

  beforeAll(async () => {
    engine = await startEngine(() => startDynalite());
    client = new DynamoDBClient({
      endpoint: engine.proxy.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
      requestHandler: { requestTimeout: 300, throwOnRequestTimeout: true },
    });
  });
  beforeEach(async () => {
    tables += 1;
    table = await createBenchTable(engine.client, `proxy-${tables}`, items);
    await table.fill(() => {});
  });
  afterAll(async () => {
    client?.destroy();
    await engine?.stop();
  });

  const remove = (from: number, to: number) => {
    const requests = Array.from({ length: to - from }, (_, offset) => ({
      DeleteRequest: { Key: { pk: { S: TARGET }, sk: { S: sortKeyOf(from + offset) } } },
    }));
    const command = new BatchWriteItemCommand({
      RequestItems: { [table.name]: requests },
      ReturnConsumedCapacity: 'TOTAL',
    });
    return client.send(command);
  };
  const read = () =>
    client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'pk = :target',
        ExpressionAttributeValues: { ':target': { S: TARGET } },
      }),
    );

  it('passes on what it does not limit, and counts it', async () => {
    await engine.proxy.begin(noCap);
    expect((await read()).Count).toBe(40);
    const { ConsumedCapacity, UnprocessedItems } = await remove(0, 25);
    expect(ConsumedCapacity).toEqual([{ TableName: table.name, CapacityUnits: 75 }]);
    expect(UnprocessedItems).toEqual({});
    expect(await table.countTarget()).toBe(15);
    expect(await engine.proxy.counts()).toMatchObject({
      calls: { Query: 1, BatchWriteItem: 1 },
      writes: { requests: 1, refused: 0, partlyRefused: 0, peakInFlight: 1 },
      units: { deleted: 75, largestRequest: 75 },
    });
  });

  it('cuts no page shorter than 1 MB', async () => {
    const large: ItemPlan = { count: 150, bytes: 10_000 };
    const { name, fill } = await createBenchTable(engine.client, 'proxy-pages', large);
    await fill(() => {});
    const pageAt = async (endpoint: DynamoDBClient) => {
      const { Count, LastEvaluatedKey } = await endpoint.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: 'pk = :target',
          ExpressionAttributeValues: { ':target': { S: TARGET } },
          ProjectionExpression: 'sk',
        }),
      );
      return { Count, LastEvaluatedKey };
    };
    await engine.proxy.begin({ items: large, latencyMs: 0 });
    expect(await pageAt(client)).toEqual(await pageAt(engine.client));
  });

  it('asks one unit for what is gone already', async () => {
    await engine.proxy.begin(noCap);
    await remove(0, 10);
    expect((await remove(0, 10)).ConsumedCapacity?.[0]?.CapacityUnits).toBe(10);
  });

  it('leaves unprocessed what the cap does not allow, and does the rest', async () => {
    await engine.proxy.begin(capOf(30));
    const { ConsumedCapacity, UnprocessedItems } = await remove(0, 25);
    expect(UnprocessedItems?.[table.name]).toHaveLength(15);
    expect(ConsumedCapacity?.[0]?.CapacityUnits).toBe(30);
    expect(await table.countTarget()).toBe(30);
    const { writes } = await engine.proxy.counts();
    expect(writes).toMatchObject({ refused: 0, partlyRefused: 1 });
  });

  it('throws, with a reason, if the cap allows nothing of a batch', async () => {
    await engine.proxy.begin(capOf(3));
    await remove(0, 1);
    const error = await remove(1, 10).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProvisionedThroughputExceededException);
    expect((error as ProvisionedThroughputExceededException).ThrottlingReasons).toEqual([
      {
        reason: 'TableWriteKeyRangeThroughputExceeded',
        resource: `arn:aws:dynamodb:us-east-1:000000000000:table/${table.name}`,
      },
    ]);
    expect(await table.countTarget()).toBe(39);
  });

  it.each(['serverError', 'reset', 'hang'] as const)(
    'makes calls fail (%s), and carries every other one out all the same',
    async (fault) => {
      const faults = { unprocessed: 0, serverError: 0, reset: 0, hang: 0, [fault]: 1 };
      await engine.proxy.begin({ ...noCap, faults });
      for (const from of [0, 10, 20, 30]) await expect(remove(from, from + 10)).rejects.toThrow();
      expect(await table.countTarget()).toBe(20);
      expect((await engine.proxy.counts()).faults[fault]).toBe(4);
    },
  );

  it('adds latency to each call without making them wait for one another', async () => {
    await engine.proxy.begin({ ...noCap, latencyMs: 100 });
    const startedAt = performance.now();
    await Promise.all([remove(0, 10), remove(10, 20), remove(20, 30), remove(30, 40)]);
    const took = performance.now() - startedAt;
    expect(took / 100).toBeGreaterThanOrEqual(0.95);
    expect((await engine.proxy.counts()).writes.peakInFlight).toBe(4);
  });
});
