import { setTimeout as delay } from 'node:timers/promises';
import type { CreateFunction } from '../../../runtime/platform.ts';

interface Record {
  readonly body: string;
  readonly attributes: { readonly ApproximateReceiveCount: string };
}

/** Stands in for a reconciler: logs when it starts and ends with an object. Hangs on the very first delivery of `stuck`. */
export const createFunction: CreateFunction =
  ({ log }) =>
  async (event) => {
    const [record] = (event as { Records: readonly Record[] }).Records;
    const { name, resourceVersion } = JSON.parse(record?.body ?? '{}');
    log.info('started', { name, resourceVersion });
    const isFirst = record?.attributes.ApproximateReceiveCount === '1';
    if (name === 'stuck' && resourceVersion === '0' && isFirst) await new Promise(() => {});
    await delay(20);
    log.info('ended', { name, resourceVersion });
    return { batchItemFailures: [] };
  };
