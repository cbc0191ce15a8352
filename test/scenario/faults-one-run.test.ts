import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../helpers/dynamodb-fault-proxy.ts';
import { createPartitions, type Partitions } from '../helpers/runtime-partitions.ts';
import { startTestSystem, type TestSystem } from '../helpers/system.ts';

const completed = ({ phase }: { readonly phase?: string }) => phase === 'Completed';

describe('with functions that live long enough, a job counts every item exactly once', () => {
  let system: TestSystem;
  let partitions: Partitions;
  let proxy: FaultProxy | undefined;

  beforeAll(async () => {
    system = await startTestSystem();
    partitions = await createPartitions(system.dynamodb);
  });

  afterEach(() => proxy?.stop());

  afterAll(() => system?.stop());

  test('though connections break, replies get lost and calls hang', async () => {
    await partitions.fill('broken', 5_000);
    proxy = await startFaultProxy(system.dynamodb, { reset: 0.1, lostReply: 0.1, hang: 0.03 });
    const spec = partitions.specOf('broken', { endpointURL: proxy.url });
    await system.createJob('broken', spec);
    const status = await system.jobReaches('broken', completed, 120);
    expect(status.deletedItems).toBe(5_000);
    expect(status.deletedItemsExact).not.toBe(false);
    expect(await partitions.left('broken')).toBe(0);
    expect(Math.min(proxy.faults.reset, proxy.faults.lostReply)).toBeGreaterThan(10);
  });

  test('though the API server is restarted in the middle of the work', async () => {
    await partitions.fill('restart', 10_000);
    proxy = await startFaultProxy(system.dynamodb, { latencyMs: 100 });
    const spec = partitions.specOf('restart', { endpointURL: proxy.url });
    await system.createJob('restart', spec);
    const { deletedItems = 0 } = await system.jobReaches(
      'restart',
      (status) => (status.deletedItems ?? 0) > 0,
    );
    expect(deletedItems).toBeLessThan(10_000);
    await system.cluster.restartApiServer?.();
    const status = await system.jobReaches('restart', completed, 120);
    expect(status.deletedItems).toBe(10_000);
    expect(status.deletedItemsExact).not.toBe(false);
    expect(await partitions.left('restart')).toBe(0);
  });
});
