import './dynamodb-credentials.ts';
import { createTestTables } from './dynamodb-tables.ts';

const TABLE = 'orders';
const CHUNK = 5_000;

/** One table of many partitions, filled and counted without any code of ours. */
export async function createPartitions(dynamodb: string) {
  const tables = createTestTables(dynamodb);
  await tables.create(TABLE, {
    partitionKey: { name: 'pk', type: 'S' },
    sortKey: { name: 'sk', type: 'S' },
  });
  return {
    fill: async (partition: string, count: number): Promise<void> => {
      for (let start = 0; start < count; start += CHUNK) {
        const items = Array.from({ length: Math.min(CHUNK, count - start) }, (_, i) => ({
          pk: { S: partition },
          sk: { S: `${start + i}` },
        }));
        await tables.put(TABLE, items);
      }
    },
    left: (partition: string) => tables.count(TABLE, 'pk', { S: partition }),
    /** Of a job that empties the partition. */
    specOf: (partition: string, extra: object = {}) => ({
      tableName: TABLE,
      partitionValue: partition,
      ...extra,
    }),
  };
}

export type Partitions = Awaited<ReturnType<typeof createPartitions>>;
