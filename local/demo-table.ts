import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  paginateQuery,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

export const TABLE = 'podless-demo';
export const TARGET = 'customer-42';
const NEIGHBOURS = ['customer-41', 'customer-43', 'customer-420', 'customer-4'];
const BATCH = 25;
const BATCHES_IN_FLIGHT = 4;

/** The demo's table: one partition to delete, and others whose every item must still be there afterwards. */
export interface DemoTable {
  fill(onProgress: (written: number) => void): Promise<void>;
  countTarget(): Promise<number>;
  countNeighbours(): Promise<number>;
  close(): void;
}

export interface DemoTableOptions {
  readonly endpoint: string;
  readonly items: number;
  readonly neighbours: number;
  readonly signal: AbortSignal;
}

export function createDemoTable({
  endpoint,
  items,
  neighbours,
  signal,
}: DemoTableOptions): DemoTable {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  const neighbourOf = (index: number) => NEIGHBOURS[index % NEIGHBOURS.length] ?? TARGET;
  return {
    fill: async (onProgress) => {
      await createTable(client);
      const total = items + neighbours;
      let next = 0;
      let written = 0;
      const lane = async () => {
        while (next < total) {
          signal.throwIfAborted();
          const from = next;
          next = Math.min(next + BATCH, total);
          const batch = Array.from({ length: next - from }, (_, offset) => {
            const index = from + offset;
            return {
              customer: index < items ? TARGET : neighbourOf(index),
              order: `order-${index}`,
            };
          });
          await put(client, batch);
          written += batch.length;
          onProgress(written);
        }
      };
      await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, lane));
    },
    countTarget: () => count(client, TARGET),
    countNeighbours: async () => {
      const counts = await Promise.all(NEIGHBOURS.map((name) => count(client, name)));
      return counts.reduce((sum, one) => sum + one, 0);
    },
    close: () => client.destroy(),
  };
}

async function createTable(client: DynamoDBClient): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'customer', KeyType: 'HASH' },
        { AttributeName: 'order', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'customer', AttributeType: 'S' },
        { AttributeName: 'order', AttributeType: 'S' },
      ],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: TABLE });
}

interface DemoItem {
  readonly customer: string;
  readonly order: string;
}

async function put(client: DynamoDBClient, items: readonly DemoItem[]): Promise<void> {
  let requests = items.map(({ customer, order }) => ({
    PutRequest: { Item: { customer: { S: customer }, order: { S: order }, total: { N: '99' } } },
  }));
  while (requests.length > 0) {
    const { UnprocessedItems } = await client.send(
      new BatchWriteItemCommand({ RequestItems: { [TABLE]: requests } }),
    );
    requests = (UnprocessedItems?.[TABLE] ?? []) as typeof requests;
  }
}

/** From the table itself, consistently. */
async function count(client: DynamoDBClient, customer: string): Promise<number> {
  const pages = paginateQuery(
    { client },
    {
      TableName: TABLE,
      KeyConditionExpression: 'customer = :customer',
      ExpressionAttributeValues: { ':customer': { S: customer } },
      Select: 'COUNT',
      ConsistentRead: true,
    },
  );
  let found = 0;
  for await (const page of pages) found += page.Count ?? 0;
  return found;
}
