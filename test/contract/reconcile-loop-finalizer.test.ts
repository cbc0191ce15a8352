import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TransientError } from '../../runtime/errors.ts';
import type { Reconciler, Verdict } from '../../runtime/reconcile.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import {
  FINALIZER,
  heldWidgetOperator,
  made,
  ready,
  reconcilerOf,
} from '../helpers/runtime-widget.ts';
import { createWorld } from '../helpers/runtime-world.ts';

const FOREIGN = 'test.podless.dev/foreign';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(heldWidgetOperator);
});

afterAll(() => plane?.stop());

const worldOf = (finalize: Reconciler['finalize']) =>
  createWorld({
    operator: heldWidgetOperator,
    kube: plane.kube,
    reconciler: reconcilerOf(async (object) => made(object), finalize),
  });

const finalizersOf = async (name: string) => (await plane.widgets.get(name))?.metadata.finalizers;

describe('an object with something to clean up', () => {
  test('gets the finalizer once, beside those of others, and before any work', async () => {
    await plane.widgets.create('held', { size: 1 }, { finalizers: [FOREIGN] });
    const seen: (readonly string[] | undefined)[] = [];
    const world = createWorld({
      operator: heldWidgetOperator,
      kube: plane.kube,
      reconciler: reconcilerOf(async (object) => {
        seen.push((await plane.widgets.mustGet('held')).metadata.finalizers);
        return made(object);
      }),
    });
    await world.byHand('held');
    const first = await plane.widgets.mustGet('held');
    await world.byHand('held');
    expect(seen).toEqual([
      [FOREIGN, FINALIZER],
      [FOREIGN, FINALIZER],
    ]);
    expect(await plane.widgets.get('held')).toEqual(first);
  });

  test('can be asked for again, by a run that has read it before it was deleted', async () => {
    await plane.widgets.create('asked');
    const answers: boolean[] = [];
    const world = createWorld({
      operator: heldWidgetOperator,
      kube: plane.kube,
      reconciler: reconcilerOf(async (object, { isStillThere }) => {
        answers.push(await isStillThere());
        await plane.widgets.delete('asked');
        answers.push(await isStillThere());
        return made(object);
      }),
    });
    await world.byHand('asked');
    expect(answers).toEqual([true, false]);
  });

  test('is cleaned up and goes when it is deleted', async () => {
    await plane.widgets.create('goes');
    const cleaned: string[] = [];
    const world = worldOf(async (object) => {
      cleaned.push(object.metadata.name);
      return made(object);
    });
    await world.byHand('goes');
    expect(cleaned).toEqual([]);
    await plane.widgets.delete('goes');
    expect(await finalizersOf('goes')).toEqual([FINALIZER]);
    expect(await world.byHand('goes')).toMatchObject({ outcome: 'done' });
    expect(cleaned).toEqual(['goes']);
    expect(await plane.widgets.get('goes')).toBeUndefined();
    expect(await world.byHand('goes')).toMatchObject({ outcome: 'skipped' });
  });

  test('stays, and says why, as long as cleaning up fails', async () => {
    await plane.widgets.create('stays');
    let well = false;
    const world = worldOf(async (object) => {
      if (!well) throw new TransientError('BucketNotEmpty', 'bucket b is not empty');
      return made(object);
    });
    await world.byHand('stays');
    await plane.widgets.delete('stays');
    expect(await world.byHand('stays')).toMatchObject({ outcome: 'waiting' });
    const kept = await plane.widgets.mustGet('stays');
    expect(kept.metadata.finalizers).toEqual([FINALIZER]);
    expect(kept.status?.conditions).toMatchObject([
      ready('False', 'BucketNotEmpty', 'bucket b is not empty'),
    ]);
    expect(world.inbox).toMatchObject([{ delaySeconds: 10, hint: { name: 'stays' } }]);
    well = true;
    await world.byHand('stays');
    expect(await plane.widgets.get('stays')).toBeUndefined();
  });

  test('stays while cleaning up takes more than one run', async () => {
    await plane.widgets.create('long');
    let left = 2;
    const world = worldOf(async (object) => {
      left -= 1;
      const requeue = { afterSeconds: 0, reason: 'not empty yet' };
      return { ...made(object), status: { left }, ...(left > 0 && { requeue }) };
    });
    await world.byHand('long');
    await plane.widgets.delete('long');
    expect(await world.byHand('long')).toMatchObject({ outcome: 'requeue', status: { left: 1 } });
    expect(await finalizersOf('long')).toEqual([FINALIZER]);
    await world.byHand('long');
    expect(await plane.widgets.get('long')).toBeUndefined();
  });

  test('may store how far cleaning up has come, and goes on', async () => {
    await plane.widgets.create('progress');
    const verdicts: Verdict[] = [];
    const world = worldOf(async (object, { checkpoint }) => {
      verdicts.push(
        await checkpoint({ status: { left: 1 }, conditions: [ready('False', 'Cleaning')] }),
      );
      return made(object);
    });
    await world.byHand('progress');
    await plane.widgets.delete('progress');
    await world.byHand('progress');
    expect(verdicts).toEqual([{ goOn: true }]);
    expect(await plane.widgets.get('progress')).toBeUndefined();
  });

  test('is released without touching the finalizers of others', async () => {
    await plane.widgets.create('shared', {}, { finalizers: [FOREIGN] });
    const world = worldOf(async (object) => made(object));
    await world.byHand('shared');
    await plane.widgets.delete('shared');
    await world.byHand('shared');
    expect(await finalizersOf('shared')).toEqual([FOREIGN]);
    expect(await world.byHand('shared')).toMatchObject({ outcome: 'skipped' });
    await plane.widgets.patch('shared', { metadata: { finalizers: [] } });
    expect(await plane.widgets.get('shared')).toBeUndefined();
  });

  test('does not get back the finalizer that another controller has removed meanwhile', async () => {
    await plane.widgets.create('raced', {}, { finalizers: [FOREIGN] });
    const world = worldOf(async (object, { checkpoint }) => {
      await plane.widgets.patch('raced', { metadata: { finalizers: [FINALIZER] } });
      await checkpoint({ status: { left: 1 }, conditions: [ready('False', 'Cleaning')] });
      return made(object);
    });
    await world.byHand('raced');
    await plane.widgets.delete('raced');
    expect(await world.byHand('raced')).toMatchObject({ outcome: 'done' });
    expect(await plane.widgets.get('raced')).toBeUndefined();
  });

  test('is not finalized while it is paused', async () => {
    await plane.widgets.create('frozen');
    const world = worldOf(async (object) => made(object));
    await world.byHand('frozen');
    await plane.widgets.annotate('frozen', { 'podless.dev/paused': '' });
    await plane.widgets.delete('frozen');
    expect(await world.byHand('frozen')).toMatchObject({ outcome: 'skipped' });
    expect(await finalizersOf('frozen')).toEqual([FINALIZER]);
    await plane.widgets.annotate('frozen', { 'podless.dev/paused': null });
    await world.byHand('frozen');
    expect(await plane.widgets.get('frozen')).toBeUndefined();
  });

  test('that is deleted before it was ever seen goes without work', async () => {
    await plane.widgets.create('unseen', {}, { finalizers: [FOREIGN] });
    await plane.widgets.delete('unseen');
    const world = worldOf(async () => {
      throw new Error('there is nothing to clean up');
    });
    expect(await world.byHand('unseen')).toMatchObject({ outcome: 'skipped' });
    expect(await finalizersOf('unseen')).toEqual([FOREIGN]);
  });
});
