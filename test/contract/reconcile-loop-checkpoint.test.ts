import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reconciler, Verdict } from '../../runtime/reconcile.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { made, ready, reconcilerOf, widgetOperator } from '../helpers/runtime-widget.ts';
import { createWorld } from '../helpers/runtime-world.ts';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(widgetOperator);
});

afterAll(() => plane?.stop());

const worldOf = (reconcile: Reconciler['reconcile'], seconds = 60) =>
  createWorld({
    operator: widgetOperator,
    kube: plane.kube,
    reconciler: reconcilerOf(reconcile),
    seconds,
  });

const replace = async (name: string) => {
  await plane.widgets.delete(name);
  await plane.widgets.create(name, { size: 5 });
};

describe('a checkpoint', () => {
  const interim = { status: { done: 1 }, conditions: [ready('False', 'Working', 'at work')] };

  /** What the second of two checkpoints says after `meanwhile`. */
  async function verdictAfter(name: string, meanwhile: () => Promise<unknown>): Promise<Verdict> {
    await plane.widgets.create(name, { size: 1 }, { finalizers: ['test.podless.dev/foreign'] });
    const verdicts: Verdict[] = [];
    const world = worldOf(async (object, { checkpoint }) => {
      verdicts.push(await checkpoint(interim));
      await meanwhile();
      verdicts.push(await checkpoint(interim));
      return made(object);
    });
    await world.byHand(name);
    expect(verdicts[0]).toEqual({ goOn: true });
    return verdicts[1] ?? { goOn: true };
  }

  const free = (name: string) => plane.widgets.patch(name, { metadata: { finalizers: [] } });

  test.each([
    ['goes on if nothing changed', async () => undefined, undefined, undefined],
    [
      'stops if the spec changed',
      (name: string) => plane.widgets.patch(name, { spec: { size: 2 } }),
      'the spec was changed',
      true,
    ],
    [
      'stops if the object was deleted',
      (name: string) => plane.widgets.delete(name),
      'the object is being deleted',
      true,
    ],
    [
      'stops if the object was paused',
      (name: string) => plane.widgets.annotate(name, { 'podless.dev/paused': 'true' }),
      'the object was paused',
      true,
    ],
    [
      'stops if the object is gone',
      (name: string) => free(name).then(() => plane.widgets.delete(name)),
      'the object was deleted',
      false,
    ],
    [
      'stops if the object was replaced',
      (name: string) => free(name).then(() => replace(name)),
      'the object was replaced by another one of the same name',
      false,
    ],
    [
      'stops if another run took over',
      (name: string) => plane.widgets.writeStatus(name, { done: 2 }),
      'another run has written the status',
      false,
    ],
  ])('%s', async (what, meanwhile, why, recorded) => {
    const name = what.replaceAll(' ', '-');
    const verdict = await verdictAfter(name, () => meanwhile(name));
    expect(verdict).toEqual(why === undefined ? { goOn: true } : { goOn: false, why, recorded });
  });

  test('stores how far the run has come while it goes on', async () => {
    await plane.widgets.create('stored', { size: 1 });
    const world = worldOf(async (object, { checkpoint }) => {
      await checkpoint(interim);
      expect((await plane.widgets.get('stored'))?.status).toMatchObject({
        done: 1,
        conditions: interim.conditions,
      });
      return made(object);
    });
    await world.byHand('stored');
    expect(await plane.widgets.events('stored')).toEqual(['Normal Working', 'Normal Made']);
  });
});

describe('the signal of a run', () => {
  test('fires before the deadline, with time left to store the status', async () => {
    await plane.widgets.create('deadline', { size: 1 });
    const world = worldOf(async (object, { signal, deadline, windUpMilliseconds, clock }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      expect(clock.now()).toBeLessThan(deadline);
      expect(windUpMilliseconds).toBeGreaterThan(0);
      return { ...made(object), requeue: { afterSeconds: 0, reason: 'the time is over' } };
    }, 3);
    expect(await world.byHand('deadline')).toMatchObject({ outcome: 'requeue' });
    expect((await plane.widgets.get('deadline'))?.status).toMatchObject({ size: 1 });
    expect(world.inbox).toMatchObject([{ delaySeconds: 0 }]);
  });
});
