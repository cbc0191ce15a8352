import { deletePartition } from '../../functions/ddbctldpjob/delete-partition.ts';
import { createPartitionTable } from '../../functions/ddbctldpjob/dynamo.ts';
import { keepHeapSmall } from '../../runtime/aws/heap.ts';
import { systemClock } from '../../runtime/clock.ts';
import { TARGET } from '../items.ts';
import { serve } from './serve.ts';

keepHeapSmall();

/** Our engine, as the function uses it; it finds out by itself how much the table bears. */
await serve(async ({ endpoint, tableName, deadlineMs, continued = false }) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const table = createPartitionTable({ endpoint, tableName, region: 'us-east-1' });
  const keys = await table.describe(signal);
  const partition = table.partition(keys, { S: TARGET });
  const timer = deadlineMs && setTimeout(() => stopping.abort(), deadlineMs);
  const result = await deletePartition(partition, { clock: systemClock, signal, continued });
  clearTimeout(timer);
  const { deleted, exact, finished, failure } = result;
  return { deleted, exact, finished, ...(failure && { failure: failure.message }) };
});
