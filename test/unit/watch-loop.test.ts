import { describe, expect, test } from 'vitest';
import { createWatcher } from '../../functions/watcher/watcher.ts';
import { KubeApiError } from '../../runtime/kube/client.ts';
import { createInvocation, operator } from '../helpers/watch-platform.ts';
import { CURSOR, createShiftWorld, fresh, settled, widget } from '../helpers/watch-shift.ts';

describe('a watcher shift', () => {
  test('forwards what is there, then what changes, and keeps quiet about the rest', async () => {
    const world = createShiftWorld();
    world.cluster.apply(widget, fresh('a'));
    world.cluster.apply(widget, settled('b'));
    const report = await world.shift(60, {
      5: () => world.cluster.apply(widget, settled('a')),
      6: () => world.cluster.apply(widget, fresh('c')),
      7: () => world.cluster.remove(widget, 'b'),
    });
    expect(world.names()).toEqual(['a:New', 'c:New', 'b:Deleted']);
    expect(report).toEqual({
      cluster: 'main',
      shiftSeconds: 60,
      forwarded: 3,
      suppressed: 2,
      relists: 1,
      reconnects: 0,
    });
    expect(world.cursors.get(CURSOR)).toBe(world.cluster.revision());
  });

  test('pages through a large list and forwards every object once', async () => {
    const world = createShiftWorld();
    for (let i = 0; i < 25; i += 1) world.cluster.apply(widget, fresh(`w${i}`));
    await world.shift(10, {}, { pageSize: 10 });
    expect(world.bus.map((hint) => hint.name)).toEqual(
      Array.from({ length: 25 }, (_, i) => `w${i}`),
    );
  });

  test('starts a list again whose continue token has expired', async () => {
    const world = createShiftWorld();
    for (let i = 0; i < 25; i += 1) world.cluster.apply(widget, fresh(`w${i}`));
    const pass = () => undefined as never;
    const expire = () => {
      throw new KubeApiError(410, 'Expired', 'the provided continue parameter is too old');
    };
    world.cluster.listFaults.push(pass, pass, expire);
    const report = await world.shift(10, {}, { pageSize: 10 });
    expect(new Set(world.bus.map((hint) => hint.name)).size).toBe(25);
    expect(report.relists).toBe(1);
  });

  test('goes on where the last shift stopped, without a list', async () => {
    const world = createShiftWorld();
    world.cluster.apply(widget, fresh('a'));
    await world.shift(10);
    world.cluster.apply(widget, fresh('b'));
    const report = await world.shift(10);
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(report.relists).toBe(0);
  });

  test('gives equal deduplication ids when two shifts overlap', async () => {
    const world = createShiftWorld();
    const script = { 3: () => world.cluster.apply(widget, fresh('a')) };
    await Promise.all([world.shift(10, script), world.shift(12)]);
    expect(world.names()).toEqual(['a:New', 'a:New']);
    expect(new Set(world.bus.map((hint) => hint.dedupId)).size).toBe(1);
  });

  test.each(['status', 'event'] as const)('lists again after 410 as %s', async (form) => {
    const world = createShiftWorld();
    world.cluster.goneForm = form;
    world.cursors.set(CURSOR, '7');
    world.cluster.apply(widget, fresh('a'));
    world.cluster.compact();
    const report = await world.shift(10, { 5: () => world.cluster.apply(widget, fresh('b')) });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(report).toMatchObject({ relists: 1, reconnects: 1 });
    expect(world.counter('podless_watch_gone_total', { kind: 'Widget' })).toBe(1);
    expect(world.cursors.get(CURSOR)).toBe(world.cluster.revision());
  });

  test('does not list in a hot loop when every position is gone at once', async () => {
    const world = createShiftWorld();
    world.cluster.watchFaults.push(
      ...Array.from({ length: 1000 }, () => () => {
        throw new KubeApiError(410, 'Expired', 'too old resource version');
      }),
    );
    const report = await world.shift(60);
    expect(report.relists).toBeLessThan(10);
  });

  test('waits for a kind that is not installed, says so once, and serves it when it appears', async () => {
    const late = { ...widget, plural: 'gizmos' };
    const world = createShiftWorld([{ ...operator, kind: late }, operator]);
    world.cluster.apply(widget, fresh('other'));
    await world.shift(120, {
      60: () => {
        world.cluster.install(late);
        world.cluster.apply(late, fresh('a'));
      },
    });
    expect(world.names()).toEqual(['other:New', 'a:New']);
    const messages = world.lines.map((line) => line.message);
    expect(messages.filter((message) => message === 'kind is not installed')).toHaveLength(1);
    expect(messages).toContain('kind is installed now');
    const lists = world.cluster.lists.filter(({ plural }) => plural === late.plural);
    const waits = lists.slice(1).map(({ at }, i) => at - (lists[i]?.at ?? 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
  });

  test('stops at the end of its shift even while nothing works', async () => {
    const world = createShiftWorld();
    world.memory.beforePut = () => {
      throw new Error('bus is down');
    };
    world.cluster.apply(widget, fresh('a'));
    await world.shift(30);
    expect(world.seconds()).toBeCloseTo(30, 0);
    expect(world.cursors.get(CURSOR)).toBeUndefined();
  });

  test('asks for streams no longer than the rest of the shift', async () => {
    const world = createShiftWorld();
    await world.shift(620);
    for (const { timeoutSeconds, at } of world.cluster.watches) {
      expect(timeoutSeconds).toBeLessThanOrEqual(600);
      expect(at / 1000 + timeoutSeconds).toBeLessThanOrEqual(world.clock.now() / 1000 + 1);
    }
  });

  test('ends before the function does, whatever shift was asked for', async () => {
    const world = createShiftWorld();
    const handler = createWatcher([operator])(world.platform);
    const run = (event: unknown, seconds: number) =>
      world.clock.run(handler(event, createInvocation(world.clock, seconds)));
    expect(await run({ shiftSeconds: 100 }, 20)).toMatchObject({ shiftSeconds: 18 });
    expect(await run(undefined, 660)).toMatchObject({ shiftSeconds: 645, cluster: 'main' });
    expect(await run({ version: '0', 'detail-type': 'Scheduled Event' }, 10)).toMatchObject({
      shiftSeconds: 9,
    });
    await expect(run({ shiftSeconds: 'x' }, 10)).rejects.toThrow('shiftSeconds must be a number');
  });
});
