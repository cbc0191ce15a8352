import { HarnessGap } from '../iam/gap.ts';
import { isList, isObject, type JsonObject } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Forwarder } from './forward.ts';
import { leadingKeysOf, type PartitionKeyOf } from './leading-keys.ts';
import { ServiceError } from './replies.ts';
import type { NeededAccess, Service } from './service.ts';

/** DynamoDB on another server; who may touch which partition is decided here. */
export function createDynamoDbService(server: Forwarder, account: string): Service {
  const known = new Map<string, JsonObject>();
  return {
    async accesses(call) {
      const partitionKeyOf = createPartitionKeyOf(server, call, known);
      const tables = tablesOf(call);
      return Promise.all(tables.map((table) => accessOf(call, table, account, partitionKeyOf)));
    },
    answer: ({ request }) => server.send(request),
  };
}

async function accessOf(
  { operation, input, region }: AwsCall,
  table: string,
  account: string,
  partitionKeyOf: PartitionKeyOf,
): Promise<NeededAccess> {
  const index = input['IndexName'];
  const resource = `table/${table}${typeof index === 'string' ? `/index/${index}` : ''}`;
  const keys = await leadingKeysOf(operation, input, table, partitionKeyOf);
  return {
    action: `dynamodb:${operation}`,
    resource: `arn:aws:dynamodb:${region}:${account}:${resource}`,
    context: new Map(keys === undefined ? [] : [['dynamodb:leadingkeys', keys]]),
  };
}

function tablesOf({ operation, input }: AwsCall): readonly string[] {
  const { TableName: table, RequestItems: requests } = input;
  if (typeof table === 'string') return [table.replace(/^arn:.*:table\//, '')];
  if (operation === 'BatchWriteItem' && isObject(requests)) return Object.keys(requests);
  if (operation === 'ListTables') return ['*'];
  throw new HarnessGap(`the harness does not know which table dynamodb:${operation} is about`);
}

/** Asks the server, as the table may be any; once, as a table cannot change its key. */
function createPartitionKeyOf(
  server: Forwarder,
  { request, region }: AwsCall,
  known: Map<string, JsonObject>,
): PartitionKeyOf {
  const describe = async (TableName: string): Promise<JsonObject> => {
    const headers = { ...request.headers, 'x-amz-target': 'DynamoDB_20120810.DescribeTable' };
    const body = Buffer.from(JSON.stringify({ TableName }));
    const reply = await server.send({ ...request, headers }, body);
    const { Table: table } = JSON.parse(reply.body.toString('utf8')) as JsonObject;
    if (isObject(table)) return table;
    throw new ServiceError('ResourceNotFoundException', 'Requested resource not found');
  };
  return async (name, index) => {
    const id = `${region}/${name}`;
    const table = known.get(id) ?? (await describe(name));
    known.set(id, table);
    const key = schemaOf(table, index).find((one) => one['KeyType'] === 'HASH')?.['AttributeName'];
    if (typeof key === 'string') return key;
    throw new ServiceError('ValidationException', `The table does not have the index: ${index}`);
  };
}

function schemaOf(table: JsonObject, index: string | undefined): readonly JsonObject[] {
  const indexes = [table['GlobalSecondaryIndexes'], table['LocalSecondaryIndexes']]
    .flatMap((list) => (isList(list) ? list : []))
    .filter(isObject);
  const owner = index === undefined ? table : indexes.find((one) => one['IndexName'] === index);
  const schema = owner?.['KeySchema'];
  return isList(schema) ? schema.filter(isObject) : [];
}
