import { BatchWriteItemCommand, DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';

/** Nothing but the DynamoDB client with the two calls that a deletion needs. */
const client = new DynamoDBClient({});

export const handler = async (TableName: string): Promise<void> => {
  await client.send(new QueryCommand({ TableName }));
  await client.send(new BatchWriteItemCommand({ RequestItems: {} }));
};
