import {
  DescribeTableCommand,
  type DynamoDBClient,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { TransientError } from '../../runtime/errors.ts';
import { type DynamoEndpoint, dynamoClient, type ScopedAccess } from './dynamo-client.ts';
import { nameOf, type TableSite, translated } from './dynamo-errors.ts';
import { openPartition } from './dynamo-partition.ts';
import { createRetry } from './retry.ts';
import {
  type KeyAttribute,
  type KeyValue,
  type PartitionTable,
  TableFault,
  type TableKeys,
} from './table.ts';

export interface PartitionTableOptions extends DynamoEndpoint {
  readonly tableName: string;
  /** Rights for one partition. Default: the function's own. */
  readonly accessTo?: ((value: KeyValue) => ScopedAccess) | undefined;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Tries of DescribeTable: with the waits between them a few seconds. */
const DESCRIBE_TRIES = 4;
const DESCRIBE_TIMEOUT_MS = 1_500;
const usableStatuses: ReadonlySet<string> = new Set(['ACTIVE', 'UPDATING']);

/** A DynamoDB table over the AWS SDK. Makes no call by itself. */
export function createPartitionTable(options: PartitionTableOptions): PartitionTable {
  const { tableName, region, endpoint, accessTo, clock = systemClock } = options;
  const client = dynamoClient(options);
  const site = {
    tableName,
    region,
    ...(endpoint !== undefined && { host: new URL(endpoint).host }),
  };
  return {
    async describe(signal) {
      const limits = { maxFailures: DESCRIBE_TRIES, maxThrottles: DESCRIBE_TRIES };
      const call = () => describeTable(client, site, signal);
      try {
        return await createRetry({ clock, ...limits }).call(call, () => signal);
      } catch (error) {
        if (signal.aborted) {
          const message = `${nameOf(site)} could not be described in the time of this run`;
          throw new TransientError('EndpointUnreachable', message);
        }
        const fault = error instanceof TransientError ? error.cause : undefined;
        if (!(fault instanceof TableFault) || fault.kind !== 'unreachable') throw error;
        throw new TransientError('EndpointUnreachable', fault.message, { cause: fault });
      }
    },
    partition: (keys, value) =>
      openPartition({ client: dynamoClient(options, accessTo?.(value)), site, keys, value }),
  };
}

async function describeTable(
  client: DynamoDBClient,
  site: TableSite,
  abortSignal: AbortSignal,
): Promise<TableKeys> {
  const command = new DescribeTableCommand({ TableName: site.tableName });
  const reply = await translated(site, 'DescribeTable', () =>
    client.send(command, { abortSignal, requestTimeout: DESCRIBE_TIMEOUT_MS }),
  );
  const table = reply.Table ?? {};
  const status = table.TableStatus ?? 'unknown';
  if (!usableStatuses.has(status)) {
    const message = `${nameOf(site)} has status ${status}, expected ACTIVE`;
    throw new TransientError('TableNotReady', message);
  }
  const partitionKey = keyAttribute(table, 'HASH');
  if (!partitionKey) throw new Error(`${nameOf(site)} has no partition key`);
  const sortKey = keyAttribute(table, 'RANGE');
  return {
    partitionKey,
    ...(sortKey && { sortKey }),
    status,
  };
}

function keyAttribute(table: TableDescription, role: 'HASH' | 'RANGE'): KeyAttribute | undefined {
  const name = table.KeySchema?.find((element) => element.KeyType === role)?.AttributeName;
  const definition = table.AttributeDefinitions?.find(
    ({ AttributeName }) => AttributeName === name,
  );
  const type = definition?.AttributeType;
  return name === undefined || type === undefined ? undefined : { name, type };
}
