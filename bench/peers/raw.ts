import type { WriteRequest } from '@aws-sdk/client-dynamodb';
import { sortKeyOf } from '../items.ts';
import { deleteRequest, plainClient, writeBatch } from './sdk.ts';
import { serve } from './serve.ts';

/** The ceiling: reads nothing because it knows every key, checks nothing, and keeps as many batches in flight as we do. */
await serve(async ({ endpoint, tableName, inFlight, count }) => {
  const client = plainClient(endpoint);
  const left: WriteRequest[] = [];
  let next = 0;

  const batch = (): readonly WriteRequest[] => {
    const again = left.splice(0, 25);
    const from = next;
    next = Math.min(count, next + 25 - again.length);
    const fresh = Array.from({ length: next - from }, (_, offset) => from + offset);
    return [...again, ...fresh.map((index) => deleteRequest(sortKeyOf(index)))];
  };
  const lane = async () => {
    for (let requests = batch(); requests.length > 0; requests = batch())
      left.push(...(await writeBatch(client, tableName, requests)));
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  client.destroy();
  return {};
});
