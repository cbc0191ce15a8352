import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHint } from '../../runtime/hint.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { heldWidgetOperator, made, reconcilerOf, widgetKind } from '../helpers/runtime-widget.ts';
import { createWorld, recordOf, sqsRecord } from '../helpers/runtime-world.ts';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(heldWidgetOperator);
});

afterAll(() => plane?.stop());

const worldOf = (extra: object = {}) =>
  createWorld({
    operator: heldWidgetOperator,
    kube: plane.kube,
    reconciler: reconcilerOf(async (object) => ({ ...made(object), ...extra })),
  });

const hintOf = (name: string) =>
  createHint({ cluster: 'main', kind: widgetKind, namespace: 'default', name }, 'New', '1');

describe('a reconciler is reached', () => {
  test('by a message of its queue', async () => {
    await plane.widgets.create('queued', { size: 1 });
    const world = worldOf();
    const answer = await world.batch(recordOf(heldWidgetOperator, 'queued'));
    expect(answer).toEqual({ batchItemFailures: [] });
    expect((await plane.widgets.get('queued'))?.status).toMatchObject({ size: 1 });
  });

  test('by an event of the bus', async () => {
    await plane.widgets.create('from-bus', { size: 1 });
    const answer = await worldOf().invoke({
      version: '0',
      id: '1',
      source: 'podless',
      'detail-type': 'Widget',
      detail: hintOf('from-bus'),
    });
    expect(answer).toMatchObject({ outcome: 'done', object: { name: 'from-bus' } });
    expect((await plane.widgets.get('from-bus'))?.status).toMatchObject({ size: 1 });
  });

  test('with a preview, before the first object is read, and only then', async () => {
    const previews: unknown[] = [];
    const world = createWorld({
      operator: heldWidgetOperator,
      kube: plane.kube,
      reconciler: {
        ...reconcilerOf(async (object) => made(object)),
        prepare: (preview, { aborted }) => void previews.push({ ...preview, aborted }),
      },
    });
    const send = (preview: unknown) =>
      world.batch(sqsRecord(JSON.stringify({ ...hintOf('not-there'), preview }), 'm'));
    expect(await send({ 'spec.color': 'red', size: 1 })).toEqual({ batchItemFailures: [] });
    await send({ 'spec.color': 'blue' });
    expect(previews).toEqual([{ 'spec.color': 'red', aborted: false }]);
  });

  test('by hand, and answers with outcome, conditions and status', async () => {
    await plane.widgets.create('by-hand', { size: 1 });
    expect(await worldOf().byHand('by-hand', { namespace: 'default', cluster: 'other' })).toEqual({
      outcome: 'done',
      reason: 'all is well',
      object: { cluster: 'other', kind: 'Widget', namespace: 'default', name: 'by-hand' },
      dryRun: false,
      conditions: [expect.objectContaining({ type: 'Ready', status: 'True' })],
      status: { size: 1, observedGeneration: 1 },
    });
  });

  test.each([
    ['nothing', null, /payload must be an object/],
    ['no name', {}, /name must be the name of an object, got nothing; an example: /],
    ['a name that is no text', { name: 7 }, /name must be the name of an object, got 7/],
    ['an empty namespace', { name: 'x', namespace: '' }, /namespace must be/],
    ['a wish for a dry run that is no yes or no', { name: 'x', dryRun: 'yes' }, /dryRun must be/],
    ['an unknown cluster', { name: 'x', cluster: 'mars' }, /cluster must be one of main, other/],
    [
      'a hint of another kind',
      { 'detail-type': 'Other', detail: { ...hintOf('x'), kind: 'Other' } },
      /kind of the hint must be "?test.podless.dev\/v1 Widget/,
    ],
  ])('and fails with what is wrong for %s', async (_, payload, message) => {
    await expect(worldOf().invoke(payload)).rejects.toThrow(message);
  });

  test('and gives back only what cannot be read in a batch', async () => {
    await plane.widgets.create('readable', { size: 1 });
    const world = worldOf();
    const answer = await world.batch(
      sqsRecord('{"half', 'cut'),
      sqsRecord('[]', 'list'),
      sqsRecord(JSON.stringify({ ...hintOf('x'), kind: 'Other' }), 'other'),
      recordOf(heldWidgetOperator, 'readable'),
    );
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual([
      'cut',
      'list',
      'other',
    ]);
    expect((await plane.widgets.get('readable'))?.status).toMatchObject({ size: 1 });
  });
});

describe('a dry run', () => {
  const plan = [{ action: 'create', subject: 'a thing', detail: 'of size 1' }];
  const requeue = { afterSeconds: 5, reason: 'later' };

  test.each([
    ['new', {}],
    ['paused', { annotations: { 'podless.dev/paused': 'true' } }],
  ])(
    'of a %s object tells what would be done, and writes nothing at all',
    async (kind, metadata) => {
      const name = `dry-${kind}`;
      const before = await plane.widgets.create(name, { size: 1 }, metadata);
      const world = worldOf({ plan, requeue });
      const answer = await world.byHand(name, { dryRun: true });
      expect(answer).toMatchObject({ dryRun: true, conditions: [] });
      expect(answer.plan).toEqual(plan);
      expect(await plane.widgets.get(name)).toEqual(before);
      expect(await plane.widgets.events(name)).toEqual([]);
      expect(world.inbox).toEqual([]);
    },
  );

  test('of an object that is being deleted does not let it go', async () => {
    await plane.widgets.create('dry-deleting');
    const world = worldOf();
    await world.byHand('dry-deleting');
    await plane.widgets.delete('dry-deleting');
    const before = await plane.widgets.get('dry-deleting');
    await world.byHand('dry-deleting', { dryRun: true });
    expect(await plane.widgets.get('dry-deleting')).toEqual(before);
  });

  test('that fails writes nothing either', async () => {
    const before = await plane.widgets.create('dry-bug');
    const world = createWorld({
      operator: heldWidgetOperator,
      kube: plane.kube,
      reconciler: reconcilerOf(async () => {
        throw new Error('a bug');
      }),
    });
    await expect(world.byHand('dry-bug', { dryRun: true })).rejects.toThrow('a bug');
    expect(await plane.widgets.get('dry-bug')).toEqual(before);
  });
});

describe('a requeue', () => {
  test('names its reason and brings back the same object in the same group', async () => {
    const { metadata } = await plane.widgets.create('again', { size: 1 });
    const world = worldOf({ requeue: { afterSeconds: 4.2, reason: 'not ready yet' } });
    const answer = await world.byHand('again');
    expect(answer).toMatchObject({ outcome: 'requeue', requeueAfterSeconds: 4.2 });
    expect(world.inbox).toMatchObject([
      {
        delaySeconds: 5,
        hint: {
          ...{ cluster: 'main', namespace: 'default', name: 'again', uid: metadata.uid, hops: 0 },
          reason: 'Requeue: not ready yet',
          group: hintOf('again').group,
        },
      },
    ]);
    const back = sqsRecord(JSON.stringify(world.inbox[0]?.hint), 'back');
    expect(await world.batch(back)).toEqual({ batchItemFailures: [] });
    expect(world.inbox[1]?.hint.hops).toBe(1);
  });
});
