import { setTimeout as delay } from 'node:timers/promises';
import { type DynamoDBClient, paginateQuery, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { PARTITION_KEY, SORT_KEY, TARGET } from '../items.ts';
import { deleteRequest, plainClient, writeBatch } from './sdk.ts';
import { serve } from './serve.ts';

/** What most people write: page by page, one batch after the other, what is unprocessed again after a wait that doubles. */
await serve(async ({ endpoint, tableName }) => {
  const client = plainClient(endpoint);
  let deleted = 0;
  const pages = paginateQuery(
    { client },
    {
      TableName: tableName,
      KeyConditionExpression: '#partition = :partition',
      ProjectionExpression: '#sort',
      ExpressionAttributeNames: { '#partition': PARTITION_KEY, '#sort': SORT_KEY },
      ExpressionAttributeValues: { ':partition': { S: TARGET } },
    },
  );
  for await (const { Items = [] } of pages) {
    const requests = Items.map((item) => deleteRequest(item[SORT_KEY]?.S ?? ''));
    for (let from = 0; from < requests.length; from += 25)
      await writeAll(client, tableName, requests.slice(from, from + 25));
    deleted += requests.length;
  }
  client.destroy();
  return { deleted, finished: true };
});

async function writeAll(
  client: DynamoDBClient,
  tableName: string,
  requests: readonly WriteRequest[],
): Promise<void> {
  let left = await writeBatch(client, tableName, requests);
  for (let waitMs = 50; left.length > 0; waitMs = Math.min(2 * waitMs, 5_000)) {
    await delay(waitMs);
    left = await writeBatch(client, tableName, left);
  }
}
