import { describe, expect, test } from 'vitest';
import { createResync, type ResyncReport } from '../../functions/resync/resync.ts';
import { systemClock } from '../../runtime/clock.ts';
import { KubeApiError } from '../../runtime/kube/client.ts';
import { createMemoryCluster } from '../helpers/watch-memory-cluster.ts';
import { createInvocation, createMemoryPlatform, operator } from '../helpers/watch-platform.ts';
import { settled, widget } from '../helpers/watch-shift.ts';

const other = { ...operator, name: 'other', kind: { ...widget, kind: 'Other', plural: 'others' } };

function createWorld(random = Math.random) {
  const cluster = createMemoryCluster(systemClock, widget, other.kind);
  const memory = createMemoryPlatform(cluster.kube, systemClock);
  const handler = createResync([operator, other], random)(memory.platform);
  return {
    cluster,
    ...memory,
    run: async (event: unknown) =>
      (await handler(event, createInvocation(systemClock, 60))) as ResyncReport,
    delays: () => memory.inboxes.get('widget')?.map(({ delaySeconds }) => delaySeconds) ?? [],
  };
}

describe('resync', () => {
  test('sends every object of every kind to its inbox, page by page', async () => {
    const world = createWorld();
    for (let i = 0; i < 1203; i += 1) world.cluster.apply(widget, settled(`w${i}`));
    world.cluster.apply(other.kind, settled('o'));
    const report = await world.run({});
    expect(report).toEqual({
      cluster: 'main',
      kinds: { Widget: { sent: 1203, rejected: 0 }, Other: { sent: 1, rejected: 0 } },
    });
    const sent = world.inboxes.get('widget') ?? [];
    expect(new Set(sent.map(({ hint }) => hint.name)).size).toBe(1203);
    expect(sent[0]?.hint).toMatchObject({ reason: 'Resync', kind: 'Widget', name: 'w0' });
    expect(world.counter('podless_resync_sent_total', { kind: 'Widget' })).toBe(1203);
  });

  test('spreads the hints over half the resync period, in whole seconds', async () => {
    const world = createWorld();
    for (let i = 0; i < 500; i += 1) world.cluster.apply(widget, settled(`w${i}`));
    await world.run({ operator: 'widget' });
    expect(Math.max(...world.delays())).toBeLessThanOrEqual(300);
    expect(Math.max(...world.delays())).toBeGreaterThan(200);
    expect(Math.min(...world.delays())).toBeLessThan(100);
    expect(world.delays().every(Number.isInteger)).toBe(true);
    expect(world.inboxes.has('other')).toBe(false);
  });

  test('never asks for more delay than a queue can give', async () => {
    const world = createWorld(() => 0.9999999);
    world.cluster.apply(widget, settled('a'));
    await world.run({ spreadSeconds: 100_000 });
    await world.run({ spreadSeconds: 0 });
    expect(world.delays()).toEqual([900, 0]);
  });

  test('reports an object it cannot read and serves the others', async () => {
    const world = createWorld();
    world.cluster.applyRaw(widget, 'bad', { metadata: { name: 'bad' } });
    world.cluster.apply(widget, settled('good'));
    const report = await world.run({ operator: 'widget' });
    expect(report.kinds['Widget']).toEqual({ sent: 1, rejected: 1 });
    expect(world.lines).toContainEqual(
      expect.objectContaining({ message: 'object cannot be read', name: 'bad' }),
    );
  });

  test('skips a kind that is not installed', async () => {
    const world = createWorld();
    world.cluster.listFaults.push(() => {
      throw new KubeApiError(404, 'NotFound', 'not found');
    });
    world.cluster.apply(other.kind, settled('o'));
    const report = await world.run({});
    expect(report.kinds).toEqual({
      Widget: { sent: 0, rejected: 0, skipped: 'kind is not installed' },
      Other: { sent: 1, rejected: 0 },
    });
  });

  test('fails if a kind cannot be listed, but not before the others were served', async () => {
    const world = createWorld();
    world.cluster.listFaults.push(() => {
      throw new KubeApiError(403, 'Forbidden', 'widgets is forbidden');
    });
    world.cluster.apply(other.kind, settled('o'));
    await expect(world.run({})).rejects.toThrow('Widget: widgets is forbidden');
    expect(world.inboxes.get('other')).toHaveLength(1);
  });

  test('fails on an operator it does not know, and says which there are', async () => {
    const run = createWorld().run({ operator: 'nobody' });
    await expect(run).rejects.toThrow('operator must be one of widget, other, got "nobody"');
  });
});
