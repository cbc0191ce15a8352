import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KubeClient, KubeConnectionError } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { ReconcileContext, Result, Verdict } from '../../runtime/reconcile.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { made, ready, reconcilerOf, widgetOperator } from '../helpers/runtime-widget.ts';
import { createWorld } from '../helpers/runtime-world.ts';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(widgetOperator);
});

afterAll(() => plane?.stop());

type Step = (object: KubeObject, context: ReconcileContext) => Promise<Result>;

const worldOf = (step: Step, seconds = 60) =>
  createWorld({
    operator: widgetOperator,
    kube: plane.kube,
    reconciler: reconcilerOf(step),
    seconds,
  });

/** A world in which `meanwhile` happens between the read of the object and the write of its status. */
const worldWith = (meanwhile: () => Promise<unknown>) =>
  worldOf(async (object) => {
    await meanwhile();
    return made(object);
  });

const replace = async (name: string) => {
  await plane.widgets.delete(name);
  await plane.widgets.create(name, { size: 5 });
};

describe('a status', () => {
  test('is written all the same if only metadata changed in mid-run', async () => {
    await plane.widgets.create('labelled', { size: 1 });
    const world = worldWith(() =>
      plane.widgets.patch('labelled', { metadata: { labels: { a: 'b' } } }),
    );
    expect(await world.byHand('labelled')).toMatchObject({ outcome: 'done' });
    expect(await plane.widgets.get('labelled')).toMatchObject({
      metadata: { labels: { a: 'b' } },
      status: { size: 1 },
    });
    expect(await plane.widgets.events('labelled')).toEqual(['Normal Made']);
  });

  test('speaks of the generation that was read, if the spec changed in mid-run', async () => {
    await plane.widgets.create('changed', { size: 1 });
    const world = worldWith(() => plane.widgets.patch('changed', { spec: { size: 2 } }));
    await world.byHand('changed');
    expect(await plane.widgets.get('changed')).toMatchObject({
      metadata: { generation: 2 },
      status: { size: 1, observedGeneration: 1, conditions: [{ observedGeneration: 1 }] },
    });
  });

  test('that another run has written meanwhile is not overwritten', async () => {
    await plane.widgets.create('overtaken', { size: 1 });
    const world = worldWith(() => plane.widgets.writeStatus('overtaken', { size: 9 }));
    expect(await world.byHand('overtaken')).toMatchObject({
      outcome: 'skipped',
      reason: 'another run has written the status',
    });
    expect((await plane.widgets.get('overtaken'))?.status).toEqual({ size: 9 });
    expect(await plane.widgets.events('overtaken')).toEqual([]);
  });

  test('is not written to another object of the same name', async () => {
    await plane.widgets.create('replaced', { size: 1 });
    const world = worldWith(() => replace('replaced'));
    expect(await world.byHand('replaced')).toMatchObject({
      outcome: 'skipped',
      reason: 'the object was replaced by another one of the same name',
    });
    expect(await plane.widgets.get('replaced')).not.toHaveProperty('status');
  });

  test('does not bring back an object that was deleted', async () => {
    await plane.widgets.create('deleted', { size: 1 });
    const world = worldWith(() => plane.widgets.delete('deleted'));
    expect(await world.byHand('deleted')).toMatchObject({ outcome: 'skipped' });
    expect(await plane.widgets.get('deleted')).toBeUndefined();
  });

  test('is written once the API server is back, if it was away for a while', async () => {
    await plane.widgets.create('away', { size: 1 });
    let failures = 6;
    const lose = <T>(call: () => Promise<T>): Promise<T> => {
      failures -= 1;
      return failures < 0 ? call() : Promise.reject(new KubeConnectionError('away'));
    };
    let reads = 0;
    const kube: KubeClient = {
      ...plane.kube,
      get: (...call) => {
        reads += 1;
        return reads === 1 ? plane.kube.get(...call) : lose(() => plane.kube.get(...call));
      },
      apply: (...call) => lose(() => plane.kube.apply(...call)),
    };
    const reconciler = reconcilerOf(async (object) => made(object));
    const world = createWorld({ operator: widgetOperator, kube, reconciler });
    expect(await world.byHand('away')).toMatchObject({ outcome: 'done' });
    expect((await plane.widgets.get('away'))?.status).toMatchObject({ size: 1 });
  });

  test('does not echo a request that came in mid-run', async () => {
    const at = 'podless.dev/reconcile-requested-at';
    await plane.widgets.create('late', {}, { annotations: { [at]: 'early' } });
    const world = worldWith(() => plane.widgets.annotate('late', { [at]: 'late' }));
    await world.byHand('late');
    expect((await plane.widgets.get('late'))?.status?.lastHandledReconcileAt).toBe('early');
  });
});

describe('an object that is to be removed', () => {
  const removing = (meanwhile: (name: string) => Promise<unknown>) =>
    worldOf(async (object) => {
      await meanwhile(object.metadata.name);
      return { ...made(object), remove: 'its time is over' };
    });

  test.each([
    ['was given another spec', (name: string) => plane.widgets.patch(name, { spec: { size: 2 } })],
    ['was paused', (name: string) => plane.widgets.annotate(name, { 'podless.dev/paused': '' })],
    ['was replaced', replace],
  ])('stays if it %s in mid-run', async (what, meanwhile) => {
    const name = what.replaceAll(' ', '-');
    await plane.widgets.create(name, { size: 1 });
    await removing(meanwhile).byHand(name);
    expect(await plane.widgets.get(name)).toBeDefined();
    expect((await plane.widgets.get(name))?.metadata).not.toHaveProperty('deletionTimestamp');
  });
});

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
