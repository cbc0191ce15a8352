import {
  BatchWriteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { PARTITION_KEY, SORT_KEY, TARGET } from '../items.ts';

/** The SDK as it comes, but for connections enough. */
export const plainClient = (endpoint: string): DynamoDBClient => {
  const requestHandler: DynamoDBClientConfig['requestHandler'] = {
    httpAgent: { keepAlive: true, maxSockets: 128 },
  };
  return new DynamoDBClient({ endpoint, region: 'us-east-1', requestHandler });
};

export const deleteRequest = (sortKey: string): WriteRequest => ({
  DeleteRequest: { Key: { [PARTITION_KEY]: { S: TARGET }, [SORT_KEY]: { S: sortKey } } },
});

/** Sends one batch once; answers what is left of it. */
export async function writeBatch(
  client: DynamoDBClient,
  tableName: string,
  requests: readonly WriteRequest[],
): Promise<readonly WriteRequest[]> {
  const command = new BatchWriteItemCommand({ RequestItems: { [tableName]: [...requests] } });
  const { UnprocessedItems } = await client.send(command);
  return UnprocessedItems?.[tableName] ?? [];
}
