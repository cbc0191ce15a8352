import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type FaultProxy,
  type ProxyFaults,
  startFaultProxy,
} from '../helpers/dynamodb-fault-proxy.ts';
import { expectHonest } from '../helpers/runtime-honest-count.ts';
import { createPartitions, type Partitions } from '../helpers/runtime-partitions.ts';
import { readyOf, startTestSystem, type TestSystem } from '../helpers/system.ts';

const completed = ({ phase }: { readonly phase?: string }) => phase === 'Completed';

describe('with functions that live for 5 seconds, a job', () => {
  let system: TestSystem;
  let partitions: Partitions;
  let proxy: FaultProxy | undefined;

  beforeAll(async () => {
    system = await startTestSystem({ functionTimeout: 5 });
    partitions = await createPartitions(system.dynamodb);
    await partitions.fill('neighbour', 100);
  });

  afterEach(async () => {
    await proxy?.stop();
    expect(await partitions.left('neighbour')).toBe(100);
  });

  afterAll(() => system?.stop());

  /** A filled partition, and a job for it behind a proxy with these faults. */
  async function startJob(name: string, items: number, faults: ProxyFaults): Promise<FaultProxy> {
    await partitions.fill(name, items);
    proxy = await startFaultProxy(system.dynamodb, faults);
    await system.createJob(name, partitions.specOf(name, { endpointURL: proxy.url }));
    return proxy;
  }

  const runsOf = (name: string, outcome: string): number =>
    system.lines.filter(
      ({ message, ...line }) =>
        message === 'reconcile finished' &&
        line['outcome'] === outcome &&
        (line['object'] as { readonly name: string }).name === name,
    ).length;

  test('deletes 50,000 items over several runs and counts each once, whatever is left unprocessed, throttled or failed', async () => {
    const { faults, calls } = await startJob('big', 50_000, {
      unprocessed: 0.3,
      throttle: 0.05,
      serverError: 0.05,
      // Keeps a fast machine from being done in one run.
      latencyMs: 20,
    });
    const status = await system.jobReaches('big', completed, 240);
    console.info('big', { runs: runsOf('big', 'requeue') + 1, faults, calls });
    expect(status.deletedItems).toBe(50_000);
    expect(status.deletedItemsExact).not.toBe(false);
    expect(await partitions.left('big')).toBe(0);
    expect(runsOf('big', 'requeue')).toBeGreaterThanOrEqual(2);
    expect(Math.min(faults.unprocessed, faults.throttle, faults.serverError)).toBeGreaterThan(10);
  });

  test('leaves nothing when connections break and calls hang, and never claims a wrong count as exact', async () => {
    const { faults } = await startJob('broken', 5_000, { reset: 0.1, lostReply: 0.1, hang: 0.02 });
    const status = await system.jobReaches('broken', completed, 120);
    console.info('broken', { exact: status.deletedItemsExact, count: status.deletedItems, faults });
    expect(await partitions.left('broken')).toBe(0);
    expectHonest(status, 5_000);
    expect(Math.min(faults.reset, faults.lostReply)).toBeGreaterThan(10);
  });

  test('says that DynamoDB is away, and does all by itself when it is back', async () => {
    const gate = await startJob('away', 2_000, { reset: 1 });
    const away = await system.jobReaches('away', (status) => readyOf(status)?.status === 'False');
    expect(readyOf(away)).toMatchObject({
      reason: 'EndpointUnreachable',
      message: expect.stringMatching(/127\.0\.0\.1:\d+ cannot be reached/),
    });
    expect(await partitions.left('away')).toBe(2_000);
    gate.set({});
    const status = await system.jobReaches('away', completed, 180);
    expect(status.deletedItems).toBe(2_000);
    expect(status.deletedItemsExact).not.toBe(false);
    expect(await partitions.left('away')).toBe(0);
  });

  test('keeps what it has counted when DynamoDB goes away in mid-work, and goes on when it is back', async () => {
    const gate = await startJob('gone', 5_000, { latencyMs: 100 });
    const { deletedItems: counted = 0 } = await system.jobReaches(
      'gone',
      ({ deletedItems = 0 }) => deletedItems > 0,
    );
    gate.set({ reset: 1 });
    const away = await system.jobReaches('gone', (status) => {
      const { reason = '' } = readyOf(status) ?? {};
      return ['EndpointUnreachable', 'DynamoDBUnavailable'].includes(reason);
    });
    expect(away.deletedItems).toBeGreaterThanOrEqual(counted);
    expect(await partitions.left('gone')).toBeGreaterThan(0);
    gate.set({});
    const status = await system.jobReaches('gone', completed, 180);
    console.info('gone', { exact: status.deletedItemsExact, count: status.deletedItems });
    expect(await partitions.left('gone')).toBe(0);
    expectHonest(status, 5_000);
  });

  test('outlives a restart of the API server in the middle of its work', async () => {
    await startJob('restart', 10_000, { latencyMs: 50 });
    await system.jobReaches('restart', ({ deletedItems = 0 }) => deletedItems > 0);
    await system.cluster.restartApiServer?.();
    const status = await system.jobReaches('restart', completed, 180);
    console.info('restart', { exact: status.deletedItemsExact, count: status.deletedItems });
    expect(await partitions.left('restart')).toBe(0);
    expectHonest(status, 10_000);
  });
});
