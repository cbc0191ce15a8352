/** An answer of the proxy's own. */
export interface Reply {
  readonly status: number;
  readonly body: object;
}

const errorType = (name: string): string => `com.amazonaws.dynamodb.v20120810#${name}`;

/** What DynamoDB answers to a batch of which it could do nothing. */
export const throttled = (tableName: string): Reply => ({
  status: 400,
  body: {
    __type: errorType('ProvisionedThroughputExceededException'),
    message: 'The throughput of a partition of the table was exceeded',
    ThrottlingReasons: [
      {
        reason: 'TableWriteKeyRangeThroughputExceeded',
        resource: `arn:aws:dynamodb:us-east-1:000000000000:table/${tableName}`,
      },
    ],
  },
});

export const serverError: Reply = {
  status: 500,
  body: { __type: errorType('InternalServerError'), message: 'Internal server error' },
};

export interface WriteAnswer {
  readonly tableName: string;
  readonly unprocessed: readonly object[];
  readonly units: number;
  /** ReturnConsumedCapacity of the request. */
  readonly capacity: string | undefined;
}

/**
 * Written anew rather than passed on: DynamoDB Local asks two units for a delete of what is not there, where DynamoDB asks
 * one, and it knows nothing of what was refused.
 */
export function written({ tableName, unprocessed, units, capacity }: WriteAnswer): Reply {
  const UnprocessedItems = unprocessed.length > 0 ? { [tableName]: unprocessed } : {};
  if (capacity !== 'TOTAL' && capacity !== 'INDEXES')
    return { status: 200, body: { UnprocessedItems } };
  const consumed = {
    TableName: tableName,
    CapacityUnits: units,
    ...(capacity === 'INDEXES' && { Table: { CapacityUnits: units } }),
  };
  return { status: 200, body: { UnprocessedItems, ConsumedCapacity: [consumed] } };
}
