import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { createTestTables, keyValue, type TableShape, type TestTables } from './dynamodb-tables.ts';
import { until } from './until.ts';

/** Tables with the keys `id` (text) and `at` (number), filled and counted by partition. */
export interface JobPartitions {
  readonly tables: TestTables;
  /** Makes a table of any shape; resolves when it can be used. */
  create(table: string, shape: TableShape): Promise<void>;
  /** Makes the table with so many items in each partition. */
  fill(table: string, counts: Readonly<Record<string, number>>): Promise<void>;
  /** More items in one partition; those with the same numbers are replaced. */
  add(table: string, partition: string, count: number): Promise<void>;
  left(table: string, partition: string): Promise<number>;
}

export function createJobPartitions(url: string): JobPartitions {
  const tables = createTestTables(url);
  const add = (table: string, partition: string, count: number) =>
    tables.put(
      table,
      Array.from({ length: count }, (_, at) => ({
        id: { S: partition },
        at: { N: String(at) },
        payload: { S: 'x'.repeat(50) },
      })),
    );
  const create = async (table: string, shape: TableShape) => {
    const { name, type } = shape.partitionKey;
    const look = () =>
      tables.count(table, name, keyValue(type, 0)).catch((error: unknown) => {
        if (!(error instanceof ResourceNotFoundException)) throw error;
        return undefined;
      });
    await tables.create(table, shape);
    await until(look, { seconds: 10, what: async () => `table ${table} to be there` });
  };
  return {
    tables,
    create,
    add,
    fill: async (table, counts) => {
      await create(table, {
        partitionKey: { name: 'id', type: 'S' },
        sortKey: { name: 'at', type: 'N' },
      });
      for (const [partition, count] of Object.entries(counts)) await add(table, partition, count);
    },
    left: (table, partition) => tables.count(table, 'id', { S: partition }),
  };
}
