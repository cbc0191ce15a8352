import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../local/control-plane/index.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/dynamodb-fault-proxy.ts';
import { freezeUntilKilled, killedRuns } from '../helpers/killed-runs.ts';
import { expectHonest } from '../helpers/runtime-honest-count.ts';
import { createPartitions, type Partitions } from '../helpers/runtime-partitions.ts';
import { startTestSystem, type TestSystem } from '../helpers/system.ts';
import { until } from '../helpers/until.ts';

const completed = ({ phase }: { readonly phase?: string }) => phase === 'Completed';

/** On a control plane of its own, so that its API server can be frozen. */
describe('with functions that live for 2 seconds, a job', () => {
  let folder: string;
  let plane: ControlPlane;
  let system: TestSystem;
  let partitions: Partitions;
  let proxy: FaultProxy | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'podless-faults-'));
    plane = await startControlPlane({ users: [] });
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, plane.kubeconfig('admin'));
    system = await startTestSystem({ functionTimeout: 2, kubeconfig });
    partitions = await createPartitions(system.dynamodb);
  });

  afterEach(() => proxy?.stop());

  afterAll(async () => {
    await system?.stop();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const startJob = async (name: string, items: number) => {
    await partitions.fill(name, items);
    proxy = await startFaultProxy(system.dynamodb, { latencyMs: 50 });
    await system.createJob(name, partitions.specOf(name, { endpointURL: proxy.url }));
    await until(async () => ((await partitions.left(name)) < items ? true : undefined), {
      seconds: 30,
      what: async () => 'the first items to go',
    });
    return proxy;
  };

  test('is taken up again after its run was killed, and says if the count is not exact', async () => {
    await startJob('killed', 4_000);
    await freezeUntilKilled(plane, system.http, 'ddbctldpjob');
    const status = await system.jobReaches('killed', completed, 120);
    console.info('killed', { exact: status.deletedItemsExact, count: status.deletedItems });
    expect(await partitions.left('killed')).toBe(0);
    expectHonest(status, 4_000);
  });

  test('gets through a moment in which DynamoDB answers nothing at all', async () => {
    const gate = await startJob('hung', 4_000);
    gate.set({ hang: 1 });
    const { DescribeTable: runs = 0 } = gate.calls;
    await until(async () => ((gate.calls['DescribeTable'] ?? 0) > runs ? true : undefined), {
      seconds: 60,
      what: async () => `a new run to hang too; so far ${gate.faults.hang} calls hung`,
    });
    gate.set({});
    const status = await system.jobReaches('hung', completed, 120);
    console.info('hung', {
      exact: status.deletedItemsExact,
      count: status.deletedItems,
      killed: await killedRuns(system.http, 'ddbctldpjob'),
    });
    expect(await partitions.left('hung')).toBe(0);
    expectHonest(status, 4_000);
  });
});
