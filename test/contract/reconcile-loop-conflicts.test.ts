import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KubeApiError, type KubeClient, KubeConnectionError } from '../../runtime/kube/client.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { made, reconcilerOf, widgetOperator } from '../helpers/runtime-widget.ts';
import { createWorld } from '../helpers/runtime-world.ts';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(widgetOperator);
});

afterAll(() => plane?.stop());

const worldOf = (reconcile: Reconciler['reconcile'], kube: KubeClient = plane.kube) =>
  createWorld({ operator: widgetOperator, kube, reconciler: reconcilerOf(reconcile) });

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
    // Whoever wrote it may be dead by now.
    expect(world.inbox).toMatchObject([{ delaySeconds: 10, hint: { name: 'overtaken' } }]);
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

  test.each([
    ['was away', new KubeConnectionError('away')],
    ['was overloaded', new KubeApiError(503, 'ServiceUnavailable', 'later')],
    ['had just started and knew nobody', new KubeApiError(403, 'Forbidden', 'who are you?')],
  ])('is written in the end if the API server %s for a while', async (what, error) => {
    const name = what.replaceAll(' ', '-');
    await plane.widgets.create(name, { size: 1 });
    let failures = 6;
    const fail = <T>(call: () => Promise<T>): Promise<T> => {
      failures -= 1;
      return failures < 0 ? call() : Promise.reject(error);
    };
    let reads = 0;
    const kube: KubeClient = {
      ...plane.kube,
      get: (...call) => {
        reads += 1;
        return reads === 1 ? plane.kube.get(...call) : fail(() => plane.kube.get(...call));
      },
      apply: (...call) => fail(() => plane.kube.apply(...call)),
    };
    const world = worldOf(async (object) => made(object), kube);
    expect(await world.byHand(name)).toMatchObject({ outcome: 'done' });
    expect((await plane.widgets.get(name))?.status).toMatchObject({ size: 1 });
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
