import { paginateQuery } from '@aws-sdk/client-dynamodb';
import { PARTITION_KEY, SORT_KEY, TARGET } from '../items.ts';
import { plainClient } from './sdk.ts';
import { serve } from './serve.ts';

/** Reads every key, and deletes nothing: what reading alone costs. */
await serve(async ({ endpoint, tableName }) => {
  const client = plainClient(endpoint);
  const pages = paginateQuery(
    { client },
    {
      TableName: tableName,
      KeyConditionExpression: '#partition = :partition',
      ProjectionExpression: '#partition, #sort',
      ExpressionAttributeNames: { '#partition': PARTITION_KEY, '#sort': SORT_KEY },
      ExpressionAttributeValues: { ':partition': { S: TARGET } },
    },
  );
  for await (const _page of pages) {
    // The next one.
  }
  client.destroy();
  return {};
});
