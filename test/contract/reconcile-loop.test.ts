import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '../../runtime/clock.ts';
import type { Result } from '../../runtime/reconcile.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { made, ready, reconcilerOf, sizeOf, widgetOperator } from '../helpers/runtime-widget.ts';
import { createTestClock, createWorld } from '../helpers/runtime-world.ts';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(widgetOperator);
});

afterAll(() => plane?.stop());

function worldOf(reconcile: (object: Parameters<typeof made>[0]) => Result = made, clock?: Clock) {
  const reconciler = reconcilerOf(async (object) => reconcile(object));
  return createWorld({
    operator: widgetOperator,
    kube: plane.kube,
    reconciler,
    ...(clock && { clock }),
  });
}

describe('a reconcile', () => {
  test('reads the object live and writes status, conditions and observedGeneration', async () => {
    const { widgets } = plane;
    await widgets.create('live', { size: 1 });
    await widgets.patch('live', { spec: { size: 2 } });
    const world = worldOf();
    const answer = await world.byHand('live');
    expect(answer).toMatchObject({ outcome: 'done', reason: 'all is well', status: { size: 2 } });
    expect((await widgets.get('live'))?.status).toEqual({
      size: 2,
      observedGeneration: 2,
      conditions: [
        { ...ready(), observedGeneration: 2, lastTransitionTime: expect.stringMatching(/Z$/) },
      ],
    });
    expect(world.inbox).toEqual([]);
  });

  test('has nothing to do for an object that is gone', async () => {
    const world = worldOf();
    const answer = await world.byHand('gone');
    expect(answer).toMatchObject({ outcome: 'skipped', reason: 'the object does not exist' });
    expect(await plane.widgets.events('gone')).toEqual([]);
  });

  test('logs one line and counts one outcome', async () => {
    await plane.widgets.create('logged');
    const world = worldOf();
    await world.byHand('logged');
    const object = { kind: 'Widget', namespace: 'default', name: 'logged' };
    expect(world.outcomes()).toMatchObject([
      { level: 'info', operator: 'widget', outcome: 'done', object, generation: 1, changed: true },
    ]);
    expect(world.counters.get('podless_reconcile_total widget done')).toBe(1);
  });

  test('writes nothing if nothing changed, however often it runs', async () => {
    await plane.widgets.create('quiet', { size: 1 });
    const world = worldOf();
    await world.byHand('quiet');
    const first = await plane.widgets.mustGet('quiet');
    await world.byHand('quiet');
    await world.byHand('quiet');
    expect(await plane.widgets.get('quiet')).toEqual(first);
    expect(await plane.widgets.events('quiet')).toEqual(['Normal Made']);
    expect(world.outcomes().map((line) => line['changed'])).toEqual([true, false, false]);
  });

  test.each([
    ['long', `${'x'.repeat(5000)}`],
    ['of many bytes', 'ж'.repeat(999)],
    ['cut in the middle of a character', `${'x'.repeat(999)}😀😀`],
  ])(
    'writes a message that is %s once, and an Event that the API server takes',
    async (kind, message) => {
      const name = `message-${kind.replaceAll(' ', '-')}`;
      await plane.widgets.create(name);
      const world = worldOf(() => ({
        status: {},
        conditions: [ready('False', 'Waiting', message)],
      }));
      await world.byHand(name);
      const first = await plane.widgets.mustGet(name);
      await world.byHand(name);
      expect(await plane.widgets.get(name)).toEqual(first);
      expect(await plane.widgets.events(name)).toEqual(['Normal Waiting']);
    },
  );

  test('tells of an object whose name leaves no room', async () => {
    const name = `${'n'.repeat(219)}-${'n'.repeat(33)}`;
    await plane.widgets.create(name);
    await worldOf().byHand(name);
    expect(await plane.widgets.events(name)).toEqual(['Normal Made']);
  });

  test('removes the status fields that the reconciler no longer gives', async () => {
    await plane.widgets.create('fields', { size: 1 });
    const status = (object: Parameters<typeof sizeOf>[0]) =>
      sizeOf(object) === 1 ? { first: true } : { second: true };
    const world = worldOf((object) => ({ status: status(object), conditions: [ready()] }));
    await world.byHand('fields');
    await plane.widgets.patch('fields', { spec: { size: 2 } });
    await world.byHand('fields');
    expect((await plane.widgets.get('fields'))?.status).toMatchObject({ second: true });
    expect((await plane.widgets.get('fields'))?.status).not.toHaveProperty('first');
  });

  test('moves lastTransitionTime and tells an Event only where a condition changed', async () => {
    const states = [
      [ready('False', 'Starting', 'a'), { ...ready('True', 'Fine'), type: 'Checked' }],
      [ready('False', 'Starting', 'b'), { ...ready('True', 'Fine'), type: 'Checked' }],
      [ready('False', 'Waiting', 'b'), { ...ready('True', 'Fine'), type: 'Checked' }],
      [ready('True', 'Made', 'c'), { ...ready('True', 'Fine'), type: 'Checked' }],
    ];
    await plane.widgets.create('moving');
    const clock = createTestClock();
    let step = 0;
    const world = worldOf(() => ({ status: {}, conditions: states[step] ?? [] }), clock);
    const times: string[][] = [];
    for (; step < states.length; step += 1) {
      const { conditions } = await world.byHand('moving');
      times.push(conditions.map(({ lastTransitionTime }) => lastTransitionTime));
      clock.ahead += 10_000;
    }
    const [first] = times;
    expect(times.slice(1, 3)).toEqual([first, first]);
    expect(Date.parse(times[3]?.[0] ?? '')).toBeGreaterThan(Date.parse(first?.[0] ?? ''));
    expect(times[3]?.[1]).toBe(first?.[1]);
    expect(await plane.widgets.events('moving')).toEqual([
      'Normal Starting',
      'Normal Fine',
      'Normal Waiting',
      'Normal Made',
    ]);
  });

  test('echoes when it was asked for, once', async () => {
    const at = 'podless.dev/reconcile-requested-at';
    await plane.widgets.create('asked', {}, { annotations: { [at]: 'now' } });
    const world = worldOf();
    const { status } = await world.byHand('asked');
    expect(status['lastHandledReconcileAt']).toBe('now');
    await plane.widgets.annotate('asked', { [at]: null });
    const { metadata } = await plane.widgets.mustGet('asked');
    await world.byHand('asked');
    expect((await plane.widgets.get('asked'))?.metadata).toEqual(metadata);
  });
});

describe('a paused object', () => {
  const paused = { 'podless.dev/paused': 'true' };

  test('is left alone, says so, and is taken up again where it was', async () => {
    const { widgets } = plane;
    await widgets.create('paused', { size: 1 });
    const world = worldOf();
    await world.byHand('paused');
    const before = await widgets.mustGet('paused');
    await widgets.patch('paused', {
      metadata: { annotations: { ...paused, 'podless.dev/reconcile-requested-at': 'later' } },
      spec: { size: 2 },
    });

    expect(await world.byHand('paused')).toMatchObject({ outcome: 'skipped' });
    const during = await widgets.mustGet('paused');
    expect(during.status).toEqual({
      ...before.status,
      conditions: [
        ...(before.status?.conditions ?? []),
        expect.objectContaining({ type: 'Paused', status: 'True' }),
      ],
    });
    await world.byHand('paused');
    expect(await widgets.mustGet('paused')).toEqual(during);

    await widgets.annotate('paused', { 'podless.dev/paused': null });
    await world.byHand('paused');
    expect((await widgets.get('paused'))?.status).toMatchObject({
      size: 2,
      observedGeneration: 2,
      lastHandledReconcileAt: 'later',
      conditions: [{ type: 'Ready', status: 'True' }],
    });
  });

  test('loses the condition when it is taken up again, also if the reconciler repeats what it sees', async () => {
    await plane.widgets.create('repeated', {}, { annotations: paused });
    const world = worldOf(({ status }) => ({
      status: {},
      conditions: [...(status?.conditions ?? []).filter(({ type }) => type !== 'Ready'), ready()],
    }));
    await world.byHand('repeated');
    await plane.widgets.annotate('repeated', { 'podless.dev/paused': 'false' });
    const { conditions } = await world.byHand('repeated');
    expect(conditions.map(({ type }) => type)).toEqual(['Ready']);
  });
});
