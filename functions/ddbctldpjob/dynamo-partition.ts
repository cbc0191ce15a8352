import {
  type AttributeValue,
  BatchWriteItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { type TableSite, translated } from './dynamo-errors.ts';
import type {
  BatchReply,
  ItemKey,
  ItemReply,
  KeyValue,
  PageQuery,
  Partition,
  TableKeys,
} from './table.ts';

export interface PartitionAddress {
  readonly client: DynamoDBClient;
  readonly site: TableSite;
  readonly keys: TableKeys;
  readonly value: KeyValue;
}

/** One partition of a table over the AWS SDK. */
export function openPartition(address: PartitionAddress): Partition {
  const itemName = itemNameOf(address.keys);
  const ProjectionExpression = address.keys.sortKey ? '#sort' : '#partition';
  return {
    async page(pageQuery) {
      const reply = await query(address, pageQuery, { ProjectionExpression });
      const keys = (reply.Items ?? []).map((item) => toKeyValue(item[itemName]));
      return { keys, ...positionOf(reply, itemName) };
    },
    async count(pageQuery) {
      const reply = await query(address, pageQuery, { Select: 'COUNT' });
      return { count: reply.Count ?? 0, ...positionOf(reply, itemName) };
    },
    deleteKeys: (items, signal) => deleteItems(address, items, signal),
    ...(!address.keys.sortKey && {
      deleteOnlyItem: (signal: AbortSignal) => deleteOnlyItem(address, signal),
    }),
  };
}

const itemNameOf = ({ sortKey, partitionKey }: TableKeys): string => (sortKey ?? partitionKey).name;

/** The partition's value is always our own: whatever a page says, no request can name an item of another partition. */
function primaryKey({ keys, value }: PartitionAddress, item: ItemKey): Record<string, KeyValue> {
  const partition = { [keys.partitionKey.name]: value };
  return keys.sortKey ? { ...partition, [keys.sortKey.name]: item } : partition;
}

function query(
  address: PartitionAddress,
  { after, upTo, limit, backward = false, consistent = false, signal }: PageQuery,
  details: Partial<QueryCommandInput>,
): Promise<QueryCommandOutput> {
  const { client, site, keys, value } = address;
  const usesSort = upTo !== undefined || details.ProjectionExpression === '#sort';
  const command = new QueryCommand({
    TableName: site.tableName,
    KeyConditionExpression: `#partition = :partition${upTo ? ' AND #sort <= :upTo' : ''}`,
    // Names are never written into an expression: they may be reserved words or hold dots and spaces.
    ExpressionAttributeNames: {
      '#partition': keys.partitionKey.name,
      // DynamoDB refuses names that no expression uses.
      ...(usesSort && keys.sortKey && { '#sort': keys.sortKey.name }),
    },
    ExpressionAttributeValues: { ':partition': value, ...(upTo && { ':upTo': upTo }) },
    ExclusiveStartKey: after && primaryKey(address, after),
    Limit: limit,
    ScanIndexForward: !backward,
    ConsistentRead: consistent,
    ReturnConsumedCapacity: 'TOTAL',
    ...details,
  });
  return translated(site, 'Query', () => client.send(command, { abortSignal: signal }));
}

function positionOf({ LastEvaluatedKey, ConsumedCapacity }: QueryCommandOutput, itemName: string) {
  const readUnits = ConsumedCapacity?.CapacityUnits ?? 0;
  return LastEvaluatedKey
    ? { readUnits, next: toKeyValue(LastEvaluatedKey[itemName]) }
    : { readUnits };
}

async function deleteItems(
  address: PartitionAddress,
  items: readonly ItemKey[],
  abortSignal: AbortSignal,
): Promise<BatchReply> {
  const { client, site, keys } = address;
  const requests = items.map((item) => ({ DeleteRequest: { Key: primaryKey(address, item) } }));
  const command = new BatchWriteItemCommand({
    RequestItems: { [site.tableName]: requests },
    ReturnConsumedCapacity: 'TOTAL',
  });
  const reply = await translated(site, 'BatchWriteItem', () =>
    client.send(command, { abortSignal }),
  );
  const left = Object.values(reply.UnprocessedItems ?? {}).flat();
  const itemName = itemNameOf(keys);
  return {
    unprocessed: left.map(({ DeleteRequest }) => toKeyValue(DeleteRequest?.Key?.[itemName])),
    writeUnits: (reply.ConsumedCapacity ?? []).reduce(
      (sum, part) => sum + (part.CapacityUnits ?? 0),
      0,
    ),
  };
}

async function deleteOnlyItem(
  address: PartitionAddress,
  abortSignal: AbortSignal,
): Promise<ItemReply> {
  const { client, site, keys, value } = address;
  const command = new DeleteItemCommand({
    TableName: site.tableName,
    Key: { [keys.partitionKey.name]: value },
    // Tells whether there was one.
    ReturnValues: 'ALL_OLD',
    ReturnConsumedCapacity: 'TOTAL',
  });
  const reply = await translated(site, 'DeleteItem', () => client.send(command, { abortSignal }));
  return {
    existed: reply.Attributes !== undefined,
    writeUnits: reply.ConsumedCapacity?.CapacityUnits ?? 0,
  };
}

function toKeyValue(value: AttributeValue | undefined): KeyValue {
  if (value?.S !== undefined) return { S: value.S };
  if (value?.N !== undefined) return { N: value.N };
  if (value?.B !== undefined) return { B: value.B };
  throw new Error('DynamoDB answered with a key attribute that is not a string, number or binary');
}
