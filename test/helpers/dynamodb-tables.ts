import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import type { KeyAttribute, KeyType, KeyValue } from '../../functions/ddbctldpjob/table.ts';
import { until } from './until.ts';

export type Item = Record<string, AttributeValue>;

export interface TableShape {
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
}

/** The world as a test sees it: makes tables, fills them, and counts what is there without any code of ours. */
export interface TestTables {
  create(name: string, shape: TableShape): Promise<void>;
  put(name: string, items: readonly Item[]): Promise<void>;
  count(name: string, partitionKey: string, value: KeyValue): Promise<number>;
}

const MAX_PUTS = 25;

export function createTestTables(url: string): TestTables {
  const client = new DynamoDBClient({ region: 'us-east-1', endpoint: url });
  return {
    async create(TableName, { partitionKey, sortKey }) {
      const attributes = sortKey ? [partitionKey, sortKey] : [partitionKey];
      const KeySchema = [
        { AttributeName: partitionKey.name, KeyType: 'HASH' as const },
        ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' as const }] : []),
      ];
      const AttributeDefinitions = attributes.map(({ name, type }) => ({
        AttributeName: name,
        AttributeType: type,
      }));
      const BillingMode = 'PAY_PER_REQUEST' as const;
      await client.send(
        new CreateTableCommand({ TableName, KeySchema, AttributeDefinitions, BillingMode }),
      );
      // A table that is still being made takes no items.
      const isActive = async () => {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }));
        return Table?.TableStatus === 'ACTIVE' ? true : undefined;
      };
      await until(isActive, { seconds: 30, what: async () => `table ${TableName} to be active` });
    },
    async put(name, items) {
      const batches = Array.from({ length: Math.ceil(items.length / MAX_PUTS) }, (_, index) =>
        items.slice(index * MAX_PUTS, (index + 1) * MAX_PUTS),
      );
      const writing = batches.map((batch) => {
        const requests = batch.map((Item) => ({ PutRequest: { Item } }));
        return client.send(new BatchWriteItemCommand({ RequestItems: { [name]: requests } }));
      });
      await Promise.all(writing);
    },
    async count(TableName, partitionKey, value) {
      let count = 0;
      let start: Item | undefined;
      do {
        const reply = await client.send(
          new QueryCommand({
            TableName,
            KeyConditionExpression: '#partition = :partition',
            ExpressionAttributeNames: { '#partition': partitionKey },
            ExpressionAttributeValues: { ':partition': value },
            ExclusiveStartKey: start,
            ConsistentRead: true,
            Select: 'COUNT',
          }),
        );
        count += reply.Count ?? 0;
        start = reply.LastEvaluatedKey;
      } while (start);
      return count;
    },
  };
}

/** A different key of the type for every number, none of them easy. */
export function keyValue(type: KeyType, number: number): KeyValue {
  if (type === 'S') return { S: `ключ #${number}.a b/"${number % 7}"` };
  if (type === 'N') return { N: `${number % 2 === 0 ? '' : '-'}${number}.${number % 9}5` };
  return { B: Uint8Array.of(0, 255, number % 256, number >> 8) };
}
