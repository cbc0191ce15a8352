import { describe, expect, test } from 'vitest';
import { createHint } from '../../runtime/hint.ts';
import { withLabels } from '../../runtime/metrics.ts';
import { runWatch } from '../../runtime/watch/run-watch.ts';
import { defaultWatchSettings } from '../../runtime/watch/settings.ts';
import { createKindSource, type WatchSource } from '../../runtime/watch/source.ts';
import { operator } from '../helpers/watch-platform.ts';
import {
  createShiftWorld,
  fresh,
  GADGET_CURSOR,
  gadget,
  owner,
  settled,
  widget,
} from '../helpers/watch-shift.ts';

const labels = { 'made-by': 'podless' };
const childOf = (name: string, reference: object = {}) => ({
  labels,
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'Widget', name: 'stranger', uid: 'u0' },
    {
      apiVersion: 'test.podless.dev/v2',
      kind: 'Widget',
      name,
      uid: `uid-of-${name}`,
      controller: true,
      ...reference,
    },
  ],
});

async function ownedWorld() {
  const world = createShiftWorld([owner]);
  world.cluster.apply(widget, settled('a'));
  await world.shift(5);
  world.bus.length = 0;
  return world;
}

describe('owned kinds', () => {
  test('wake the controlling owner on every change of a child', async () => {
    const world = await ownedWorld();
    await world.shift(10, {
      1: () => world.cluster.apply(gadget, fresh('child', childOf('a'))),
      2: () => world.cluster.apply(gadget, settled('child', childOf('a'))),
      3: () => world.cluster.remove(gadget, 'child'),
    });
    expect(world.names()).toEqual(['a:ChildChanged', 'a:ChildChanged', 'a:ChildChanged']);
    expect(new Set(world.bus.map((hint) => hint.dedupId)).size).toBe(3);
    expect(world.bus[0]).toMatchObject({
      apiVersion: 'test.podless.dev/v1',
      kind: 'Widget',
      namespace: 'default',
      uid: 'uid-of-a',
    });
  });

  test.each([
    ['of another kind', { kind: 'Other' }],
    ['of another group', { apiVersion: 'apps/v1' }],
    ['that does not control it', { controller: false }],
    ['without a name', { name: 7 }],
  ])('leave an owner alone %s', async (_, reference) => {
    const world = await ownedWorld();
    const report = await world.shift(10, {
      1: () => world.cluster.apply(gadget, fresh('child', childOf('a', reference))),
    });
    expect(world.names()).toEqual([]);
    expect(report.suppressed).toBe(1);
  });

  test.each([
    ['without an ownerReference', {}],
    ['that something else controls', childOf('other', { kind: 'Other' })],
  ])('wake the owner that a child names, %s', async (_, rest) => {
    const world = await ownedWorld();
    const annotations = { 'podless.dev/owner': 'elsewhere/far' };
    await world.shift(10, {
      1: () => world.cluster.apply(gadget, fresh('child', { ...rest, labels, annotations })),
      2: () => world.cluster.remove(gadget, 'child'),
    });
    expect(world.names()).toEqual(['far:ChildChanged', 'far:ChildChanged']);
    expect(world.bus[0]).toMatchObject({ kind: 'Widget', namespace: 'elsewhere', name: 'far' });
    expect(world.bus[0]?.uid).toBeUndefined();
    // One object at a time, whoever asks: its own changes come by the same group.
    const subject = { cluster: 'main', kind: widget, namespace: 'elsewhere', name: 'far' };
    expect(world.bus[0]?.group).toBe(createHint(subject, 'Changed', 'test').group);
  });

  test('wake the controlling owner, not the one that the child names', async () => {
    const world = await ownedWorld();
    const annotations = { 'podless.dev/owner': 'elsewhere/far' };
    await world.shift(10, {
      1: () => world.cluster.apply(gadget, fresh('child', { ...childOf('a'), annotations })),
    });
    expect(world.names()).toEqual(['a:ChildChanged']);
    expect(world.bus[0]).toMatchObject({ namespace: 'default' });
  });

  test.each([['', 'far', 'elsewhere/', '/far', 'a/b/c', 7]])(
    'leave everybody alone if the owner is not named as it must be',
    async (...texts) => {
      const world = await ownedWorld();
      const children = texts.map((text, i) =>
        fresh(`child-${i}`, { labels, annotations: { 'podless.dev/owner': text } }),
      );
      const report = await world.shift(10, {
        1: () => {
          for (const child of children) world.cluster.apply(gadget, child);
        },
      });
      expect(world.names()).toEqual([]);
      expect(report.suppressed).toBe(children.length);
    },
  );

  test('are selected by label', async () => {
    const world = await ownedWorld();
    await world.shift(10, {
      1: () => world.cluster.apply(gadget, fresh('child', { ...childOf('a'), labels: {} })),
    });
    expect(world.names()).toEqual([]);
  });

  test('wake every owner after a list, because a deletion may have been missed', async () => {
    const world = await ownedWorld();
    world.cluster.apply(widget, settled('b'));
    world.cluster.compact();
    const report = await world.shift(10);
    expect(world.names().toSorted()).toEqual(['a:ChildrenRelisted', 'b:ChildrenRelisted']);
    expect(report.relists).toBe(2);
    expect(world.cursors.get(GADGET_CURSOR)).toBe(world.cluster.revision());
  });

  test('give one hint per owner for many children changed together', async () => {
    const world = await ownedWorld();
    await world.shift(10, {
      1: () => {
        for (let i = 0; i < 20; i += 1) world.cluster.apply(gadget, fresh(`c${i}`, childOf('a')));
      },
    });
    expect(world.names().length).toBeLessThanOrEqual(2);
  });
});

describe('a bug in our own handling', () => {
  test('is logged with its stack and counted, and all other objects are served', async () => {
    const world = createShiftWorld();
    const source = createKindSource('main', operator);
    const failing: WatchSource = {
      ...source,
      hintForChange: (change) => {
        if (change.identity.name === 'poison') throw new TypeError('a bug');
        return source.hintForChange(change);
      },
      hintForListed: (seen) => failing.hintForChange({ type: 'ADDED', ...seen }),
    };
    const shift = new AbortController();
    const steps = [
      () => world.cluster.apply(widget, fresh('before')),
      () => world.cluster.apply(widget, fresh('poison')),
      () => world.cluster.apply(widget, fresh('after')),
    ];
    steps.forEach((step, i) => void world.clock.sleep(1000 + i).then(step));
    void world.clock.sleep(60_000).then(() => shift.abort());
    const { bus, cursors, clock, log } = world.platform;
    const metrics = withLabels(world.platform.metrics, { cluster: 'main' });
    const counts = { forwarded: 0, suppressed: 0, relists: 0, reconnects: 0 };
    await world.clock.run(
      runWatch(failing, {
        ...{ kube: world.cluster.kube, bus, cursors, clock, log, metrics, counts },
        settings: { ...defaultWatchSettings, random: () => 0.5 },
        signal: shift.signal,
        shiftEnd: clock.now() + 60_000,
      }),
    );
    expect(new Set(world.names())).toEqual(new Set(['before:New', 'after:New']));
    expect(world.counter('podless_watch_reconnects_total', { kind: 'Widget', cause: 'bug' })).toBe(
      3,
    );
    expect(world.counter('podless_watch_rejected_total', { kind: 'Widget', cause: 'bug' })).toBe(1);
    const line = world.lines.find(({ message }) => message === 'watch handler failed');
    expect(line?.['stack']).toContain('a bug');
  });
});
