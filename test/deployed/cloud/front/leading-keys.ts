import { HarnessGap } from '../iam/gap.ts';
import { isObject, type Json, type JsonObject } from '../template/json.ts';

/** Name of the partition key of a table, or of an index of it. */
export type PartitionKeyOf = (table: string, index?: string) => Promise<string>;

/**
 * What DynamoDB gives IAM as `dynamodb:LeadingKeys`: the partition key values that a request names for a table.
 * Undefined where it names none, as a Scan.
 */
export async function leadingKeysOf(
  operation: string,
  input: JsonObject,
  table: string,
  partitionKeyOf: PartitionKeyOf,
): Promise<readonly string[] | undefined> {
  if (operation === 'Query') {
    const index = input['IndexName'];
    const key = await partitionKeyOf(table, typeof index === 'string' ? index : undefined);
    return [textOf(queriedValue(input, key))];
  }
  const items = itemsOf(operation, input, table);
  if (!items) return undefined;
  const key = await partitionKeyOf(table);
  return [...new Set(items.map((item) => textOf(objectAt(item, key))))];
}

/** The items, or their keys, that a request is about. */
function itemsOf(operation: string, input: JsonObject, table: string): JsonObject[] | undefined {
  switch (operation) {
    case 'GetItem':
    case 'DeleteItem':
    case 'UpdateItem':
      return [objectAt(input, 'Key')];
    case 'PutItem':
      return [objectAt(input, 'Item')];
    case 'BatchWriteItem': {
      const requests = objectAt(input, 'RequestItems')[table] as readonly JsonObject[];
      return requests.map((request) =>
        isObject(request['DeleteRequest'])
          ? objectAt(request['DeleteRequest'], 'Key')
          : objectAt(objectAt(request, 'PutRequest'), 'Item'),
      );
    }
    default:
      return undefined;
  }
}

/** The value that `<partition key> = :value` stands for. */
function queriedValue(input: JsonObject, key: string): JsonObject {
  const expression = input['KeyConditionExpression'];
  if (typeof expression !== 'string') {
    throw new HarnessGap('the harness reads queries with a KeyConditionExpression only');
  }
  const names = isObject(input['ExpressionAttributeNames'])
    ? input['ExpressionAttributeNames']
    : {};
  for (const [, name = '', value = ''] of expression.matchAll(/(#?[\w.-]+)\s*=\s*(:\w+)/g)) {
    if ((names[name] ?? name) === key)
      return objectAt(objectAt(input, 'ExpressionAttributeValues'), value);
  }
  throw new HarnessGap(`the query names no value of ${key}: ${expression}`);
}

/** Documented for texts only: for numbers and bytes this is the text that the request holds. */
function textOf(value: JsonObject): string {
  const text = value['S'] ?? value['N'] ?? value['B'];
  if (typeof text === 'string') return text;
  throw new HarnessGap(`a key must be a text, number or bytes, got ${JSON.stringify(value)}`);
}

function objectAt(json: JsonObject, key: string): JsonObject {
  const value: Json | undefined = json[key];
  if (isObject(value)) return value;
  throw new HarnessGap(`the request has no object ${key}`);
}
