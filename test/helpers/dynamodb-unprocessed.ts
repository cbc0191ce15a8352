type WriteRequests = Record<string, unknown[]>;

interface SplitBatch {
  /** The request with what may be carried out. */
  readonly body: Buffer;
  readonly unprocessed: WriteRequests;
  /** DynamoDB answers a batch of which nothing could be done with an exception. */
  readonly nothingLeft: boolean;
}

export const unsplit = (body: Buffer): SplitBatch => ({
  body,
  unprocessed: {},
  nothingLeft: false,
});

/** Takes the picked requests out of a BatchWriteItem. */
export function splitBatch(body: Buffer, pick: () => boolean): SplitBatch {
  const input = JSON.parse(body.toString('utf8')) as { RequestItems: WriteRequests };
  const kept: WriteRequests = {};
  const unprocessed: WriteRequests = {};
  for (const [table, requests] of Object.entries(input.RequestItems)) {
    const groups = Object.groupBy(requests, () => (pick() ? 'left' : 'kept'));
    if (groups.left) unprocessed[table] = groups.left;
    if (groups.kept) kept[table] = groups.kept;
  }
  if (Object.keys(unprocessed).length === 0) return unsplit(body);
  const nothingLeft = Object.keys(kept).length === 0;
  return {
    body: Buffer.from(JSON.stringify({ ...input, RequestItems: kept })),
    unprocessed,
    nothingLeft,
  };
}

/** Puts them into the engine's answer. */
export function mergeUnprocessed(body: Buffer, unprocessed: WriteRequests): Buffer {
  if (Object.keys(unprocessed).length === 0) return body;
  const reply = JSON.parse(body.toString('utf8')) as object;
  if (!('UnprocessedItems' in reply)) return body;
  return Buffer.from(JSON.stringify({ ...reply, UnprocessedItems: unprocessed }));
}
