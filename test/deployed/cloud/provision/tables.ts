import {
  type AttributeDefinition,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { until } from '../../../helpers/until.ts';
import type { Stack } from '../template/stack.ts';

/** Makes the template's tables on a DynamoDB server. */
export async function provisionTables(stack: Stack, url: string): Promise<void> {
  const client = clientOf(stack, url);
  for (const { name: TableName, fields } of stack.ofType('AWS::DynamoDB::Table')) {
    if (fields.optionalText('BillingMode') !== 'PAY_PER_REQUEST') {
      throw new Error(`the harness makes tables with BillingMode PAY_PER_REQUEST: ${fields.path}`);
    }
    const KeySchema = fields.list('KeySchema').map(({ raw }) => raw as unknown as KeySchemaElement);
    const AttributeDefinitions = fields
      .list('AttributeDefinitions')
      .map(({ raw }) => raw as unknown as AttributeDefinition);
    const BillingMode = 'PAY_PER_REQUEST';
    await untilNotDeleting(client, TableName);
    await client.send(
      new CreateTableCommand({ TableName, KeySchema, AttributeDefinitions, BillingMode }),
    );
    await until(async () => ((await statusOf(client, TableName)) === 'ACTIVE' ? true : undefined), {
      seconds: 30,
      what: async () => `table ${TableName} to be active`,
    });
  }
  client.destroy();
}

/** The stack before this one may have left it on its way out. */
const untilNotDeleting = (client: DynamoDBClient, name: string): Promise<true> =>
  until(async () => ((await statusOf(client, name)) === 'DELETING' ? undefined : true), {
    seconds: 30,
    what: async () => `table ${name} to be gone`,
  });

/** Undefined if there is no such table. */
async function statusOf(client: DynamoDBClient, TableName: string): Promise<string | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table?.TableStatus;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** They go with the stack. */
export async function removeTables(stack: Stack, url: string): Promise<void> {
  const client = clientOf(stack, url);
  for (const { name: TableName } of stack.ofType('AWS::DynamoDB::Table')) {
    await client.send(new DeleteTableCommand({ TableName }));
  }
  client.destroy();
}

const clientOf = ({ place }: Stack, endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: place.region,
    credentials: { accessKeyId: 'harness', secretAccessKey: 'harness' },
  });
