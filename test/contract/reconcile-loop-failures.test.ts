import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import { KubeApiError, KubeConnectionError } from '../../runtime/kube/client.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { made, ready, reconcilerOf, widgetOperator } from '../helpers/runtime-widget.ts';
import { createWorld, recordOf } from '../helpers/runtime-world.ts';

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(widgetOperator);
});

afterAll(() => plane?.stop());

const worldOf = (reconcile: Reconciler['reconcile'], kube = plane.kube) =>
  createWorld({ operator: widgetOperator, kube, reconciler: reconcilerOf(reconcile) });

const failing = (error: unknown) =>
  worldOf(async () => {
    throw error;
  });

describe('a reconcile that fails', () => {
  test('for good shows why, is told once and is not tried again', async () => {
    await plane.widgets.create('terminal', { size: 3 });
    const world = failing(new TerminalError('InvalidSpec', 'spec.size must be even, got 3'));
    const answer = await world.byHand('terminal');
    expect(answer).toMatchObject({ outcome: 'terminal', status: { size: 3 } });
    expect(answer.conditions).toMatchObject([
      ready('False', 'InvalidSpec', 'spec.size must be even, got 3'),
    ]);
    const first = await plane.widgets.mustGet('terminal');
    expect(first.status?.observedGeneration).toBe(1);
    expect(await world.batch(recordOf(widgetOperator, 'terminal'))).toEqual({
      batchItemFailures: [],
    });
    expect(await plane.widgets.get('terminal')).toEqual(first);
    expect(await plane.widgets.events('terminal')).toEqual(['Warning InvalidSpec']);
    expect(world.inbox).toEqual([]);
  });

  test('for now is looked at again after 10, 20, 40, 80, 120, 120 seconds', async () => {
    await plane.widgets.create('waiting');
    const world = failing(new TransientError('TableNotFound', 'table "t" does not exist'));
    const waits: (number | undefined)[] = [];
    for (let run = 0; run < 6; run += 1) {
      const hops = world.inbox.at(-1)?.hint.hops;
      await world.batch(recordOf(widgetOperator, 'waiting', hops));
      waits.push(world.inbox.at(-1)?.delaySeconds);
    }
    expect(waits).toEqual([10, 20, 40, 80, 120, 120]);
    expect(world.inbox[0]?.hint).toMatchObject({
      name: 'waiting',
      uid: (await plane.widgets.mustGet('waiting')).metadata.uid,
      reason: 'Requeue: table "t" does not exist',
    });
    expect((await plane.widgets.get('waiting'))?.status?.conditions).toMatchObject([
      ready('False', 'TableNotFound', 'table "t" does not exist'),
    ]);
    expect(await plane.widgets.events('waiting')).toEqual(['Warning TableNotFound']);
    expect(world.outcomes().map((line) => line['outcome'])).toEqual(Array(6).fill('waiting'));
  });

  test('by a bug shows an internal error without its text, and goes back to the queue', async () => {
    await plane.widgets.create('bug');
    const world = failing(new RangeError('secret detail'));
    const answer = await world.batch(recordOf(widgetOperator, 'bug'));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'bug' }] });
    // First hidden for the life of the run, then given back after a moment.
    const [hidden, givenBack] = world.retries;
    expect(hidden).toMatchObject({ receiptHandle: 'receipt-bug' });
    expect(givenBack).toEqual({ receiptHandle: 'receipt-bug', seconds: expect.any(Number) });
    expect(givenBack?.seconds).toBeLessThan(hidden?.seconds ?? 0);
    const shown = await plane.widgets.mustGet('bug');
    const [condition] = shown.status?.conditions ?? [];
    expect(condition).toMatchObject({ type: 'Ready', status: 'False', reason: 'InternalError' });
    expect(condition?.message).not.toContain('secret detail');
    const [line] = world.outcomes();
    expect(line).toMatchObject({ level: 'error', outcome: 'error', reason: 'secret detail' });
    await expect(world.byHand('bug')).rejects.toThrow('secret detail');
    expect(await plane.widgets.mustGet('bug')).toEqual(shown);
  });

  test.each([
    ['the API server is away', new KubeConnectionError('GET failed'), 'retry'],
    ['the API server is overloaded', new KubeApiError(429, 'TooManyRequests', 'later'), 'retry'],
    ['the API server refuses', new KubeApiError(403, 'Forbidden', 'no'), 'error'],
  ])('because %s goes back to the queue, is logged and counted', async (_, error, outcome) => {
    const broken = {
      ...plane.kube,
      get: async () => {
        throw error;
      },
    };
    const world = worldOf(async (object) => made(object), broken);
    const answer = await world.batch(recordOf(widgetOperator, 'any'));
    expect(answer.batchItemFailures).toEqual([{ itemIdentifier: 'any' }]);
    expect(world.outcomes()).toMatchObject([{ level: 'error', outcome, reason: error.message }]);
    expect(world.counters.get(`podless_reconcile_total widget ${outcome}`)).toBe(1);
  });

  test("keeps the kind's own conditions as they are", async () => {
    const { widgets } = plane;
    await widgets.create('own', { size: 1 });
    const checked = { ...ready('True', 'Fine'), type: 'Checked' };
    const good = worldOf(async (object) => ({
      ...made(object),
      conditions: [ready(), checked],
    }));
    await good.byHand('own');
    const before = (await widgets.mustGet('own')).status?.conditions ?? [];
    await widgets.patch('own', { spec: { size: 2 } });
    await failing(new TransientError('Away', 'the world is away')).byHand('own');
    const after = (await widgets.mustGet('own')).status?.conditions ?? [];
    expect(after.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Ready Away',
      'Checked Fine',
    ]);
    expect(after[1]).toEqual(before[1]);
  });

  test('recovers by itself once the world is well', async () => {
    await plane.widgets.create('recovers', { size: 1 });
    let well = false;
    const world = worldOf(async (object) => {
      if (well) return made(object);
      throw new TransientError('Away', 'the world is away');
    });
    await world.byHand('recovers');
    well = true;
    await world.byHand('recovers');
    expect((await plane.widgets.get('recovers'))?.status?.conditions).toMatchObject([ready()]);
    expect(await plane.widgets.events('recovers')).toEqual(['Warning Away', 'Normal Made']);
  });

  test('costs only itself: of ten messages with one poisoned, nine are done', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `batch-${i}`);
    for (const name of names) await plane.widgets.create(name, { size: 1 });
    const world = worldOf(async (object) => {
      if (object.metadata.name === 'batch-4') throw new Error('poison');
      return made(object);
    });
    const answer = await world.batch(...names.map((name) => recordOf(widgetOperator, name)));
    expect(answer.batchItemFailures).toEqual([{ itemIdentifier: 'batch-4' }]);
    const done = [];
    for (const name of names) {
      const { status } = await plane.widgets.mustGet(name);
      if (status?.conditions?.[0]?.reason === 'Made') done.push(name);
    }
    expect(done).toEqual(names.filter((name) => name !== 'batch-4'));
    expect(world.outcomes()).toHaveLength(10);
  });
});
