import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  paginateQuery,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  bytesOf,
  type ItemPlan,
  itemOf,
  NEIGHBOURS,
  PARTITION_KEY,
  SORT_KEY,
  TARGET,
} from './items.ts';

/** The table of one run, straight at the engine: neither seeding nor counting passes through the proxy. */
export interface BenchTable {
  readonly name: string;
  fill(onProgress: (written: number) => void): Promise<void>;
  countTarget(): Promise<number>;
  countNeighbours(): Promise<number>;
  remove(): Promise<void>;
}

const NEIGHBOUR_ITEMS = 100;
const neighbourPlan: ItemPlan = { count: NEIGHBOUR_ITEMS, bytes: 100 };
export const NEIGHBOUR_TOTAL = NEIGHBOURS.length * NEIGHBOUR_ITEMS;

const MAX_PUTS = 25;
const MAX_BATCH_BYTES = 2_000_000;
const BATCHES_IN_FLIGHT = 8;

export const directClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

export async function createBenchTable(
  client: DynamoDBClient,
  name: string,
  plan: ItemPlan,
): Promise<BenchTable> {
  await createTable(client, name);
  const countAll = async (partitions: readonly string[]): Promise<number> => {
    const counts = await Promise.all(partitions.map((one) => count(client, name, one)));
    return counts.reduce((sum, one) => sum + one, 0);
  };
  return {
    name,
    async fill(onProgress) {
      for (const neighbour of NEIGHBOURS) await put(client, name, neighbourPlan, neighbour);
      await put(client, name, plan, TARGET, onProgress);
    },
    countTarget: () => countAll([TARGET]),
    countNeighbours: () => countAll(NEIGHBOURS),
    remove: async () => {
      await client.send(new DeleteTableCommand({ TableName: name }));
    },
  };
}

async function createTable(client: DynamoDBClient, TableName: string): Promise<void> {
  const key = (AttributeName: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName, KeyType });
  const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [key(PARTITION_KEY, 'HASH'), key(SORT_KEY, 'RANGE')],
      AttributeDefinitions: [text(PARTITION_KEY), text(SORT_KEY)],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
}

async function put(
  client: DynamoDBClient,
  tableName: string,
  plan: ItemPlan,
  partition: string,
  onProgress?: (written: number) => void,
): Promise<void> {
  const batches = cutIntoBatches(plan);
  let written = 0;
  const lane = async () => {
    for (const { from, to } of batches) {
      const requests = Array.from({ length: to - from }, (_, offset) => ({
        PutRequest: { Item: itemOf(plan, from + offset, partition) },
      }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: requests } }));
      written += requests.length;
      onProgress?.(written);
    }
  };
  // All lanes draw from the one iterator.
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, lane));
}

function* cutIntoBatches(plan: ItemPlan): Generator<{ from: number; to: number }, void> {
  for (let from = 0, to = 0; from < plan.count; from = to) {
    let bytes = 0;
    do {
      bytes += bytesOf(plan, to);
      to += 1;
    } while (to < plan.count && to - from < MAX_PUTS && bytes < MAX_BATCH_BYTES);
    yield { from, to };
  }
}

async function count(
  client: DynamoDBClient,
  TableName: string,
  partition: string,
): Promise<number> {
  const pages = paginateQuery(
    { client },
    {
      TableName,
      KeyConditionExpression: '#partition = :partition',
      ExpressionAttributeNames: { '#partition': PARTITION_KEY },
      ExpressionAttributeValues: { ':partition': { S: partition } },
      Select: 'COUNT',
      ConsistentRead: true,
      // Without it DynamoDB Local reads the whole partition for each page.
      Limit: 5_000,
    },
  );
  let found = 0;
  for await (const { Count = 0 } of pages) found += Count;
  return found;
}
