import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';
import { type CrashPlan, createFaultPoint, type FaultPoint } from '../helpers/runtime-crash.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import {
  configMapKind,
  heldWidgetOperator,
  ready,
  reconcilerOf,
  sizeOf,
  type Widget,
} from '../helpers/runtime-widget.ts';
import {
  createTestClock,
  createWorld,
  recordOf,
  sqsRecord,
  type World,
} from '../helpers/runtime-world.ts';

const MAX_DELIVERIES = 20;
const AT_ONCE = 8;
const MAX_SIZE = 2;

type ConfigMap = KubeObject & { readonly data?: object };

const childRef = (owner: string, number: number) => ({
  kind: configMapKind,
  namespace: 'default',
  name: `${owner}-${number}`,
});

/** Makes `spec.size` ConfigMaps, one a run, and takes away those above; cleans up all of them. */
function createChildMaker(kube: KubeClient): Reconciler {
  const remove = async ({ metadata }: KubeObject, from: number) => {
    for (let number = from; number < MAX_SIZE; number += 1) {
      const child = await kube.get(childRef(metadata.name, number));
      if (child) await kube.delete(childRef(metadata.name, number), { uid: child.metadata.uid });
    }
  };
  const reconcile: Reconciler['reconcile'] = async (object, { checkpoint }) => {
    const { name, generation } = object.metadata;
    const size = sizeOf(object);
    const { made: known = 0, observedGeneration } = (object as Widget).status ?? {};
    const settled = known === size && observedGeneration === generation;
    const working = [ready('False', 'Working', 'at work')];
    if (!settled) await checkpoint({ status: { made: known }, conditions: working });
    await remove(object, size);
    const made = Math.min(Number(known) + 1, size);
    const ref = childRef(name, made - 1);
    const labels = { 'test.podless.dev/widget': name };
    const body = { metadata: { name: ref.name, labels }, data: { number: String(made - 1) } };
    await kube.apply(ref, body, { fieldManager: 'podless-widget' });
    const done = made === size;
    return {
      status: { made },
      conditions: done ? [ready()] : working,
      ...(!done && { requeue: { afterSeconds: 0, reason: 'not all are made' } }),
    };
  };
  return reconcilerOf(reconcile, async (object) => {
    await remove(object, 0);
    return { status: {}, conditions: [ready('False', 'Gone')] };
  });
}

let plane: WidgetPlane;

beforeAll(async () => {
  plane = await startWidgetPlane(heldWidgetOperator);
});

afterAll(() => plane?.stop());

/** Delivers until all messages, those sent on the way too, are acknowledged. */
async function deliver(name: string, world: World, fault: FaultPoint): Promise<void> {
  const waiting = [JSON.stringify(JSON.parse(recordOf(heldWidgetOperator, name).body))];
  for (let delivery = 0; waiting.length > 0; delivery += 1) {
    if (delivery === MAX_DELIVERIES) throw new Error(`${name} does not come to an end`);
    fault.restart();
    const [body = ''] = waiting;
    const { batchItemFailures } = await world.batch(sqsRecord(body, name));
    if (batchItemFailures.length === 0) waiting.shift();
    waiting.push(...world.inbox.splice(0).map(({ hint }) => JSON.stringify(hint)));
  }
}

/** What there is to see of the object and its children, without names and times. */
async function snapshot(name: string) {
  const widget = await plane.widgets.get(name);
  const children = [];
  for (let number = 0; number < MAX_SIZE; number += 1) {
    const child: ConfigMap | undefined = await plane.admin.get(childRef(name, number));
    children.push(child?.data);
  }
  const { conditions = [], ...status } = widget?.status ?? {};
  const shown = conditions.map((condition) => ({ ...condition, lastTransitionTime: '' }));
  return { finalizers: widget?.metadata.finalizers, status, conditions: shown, children };
}

/** The life of an object: made with two children, cut down to one, deleted. */
async function live(name: string, plan?: CrashPlan) {
  const fault = createFaultPoint(plan);
  const kube = fault.wrapKube(plane.kube);
  const world = createWorld({
    operator: heldWidgetOperator,
    kube,
    reconciler: createChildMaker(kube),
    wrapInbox: fault.wrapInbox,
    clock: createTestClock(),
  });
  await plane.widgets.create(name, { size: 2 });
  await deliver(name, world, fault);
  const grown = await snapshot(name);
  await plane.widgets.patch(name, { spec: { size: 1 } });
  await deliver(name, world, fault);
  const cut = await snapshot(name);
  await plane.widgets.delete(name);
  await deliver(name, world, fault);
  const events = await plane.widgets.events(name);
  return { states: [grown, cut, await snapshot(name)], events, fault };
}

describe('an object whose operator is struck at any call', () => {
  test('ends in the same state as without, with no Event told twice', async () => {
    const clean = await live('clean');
    expect(clean.states).toMatchObject([
      { status: { made: 2 }, conditions: [ready()], children: [{ number: '0' }, { number: '1' }] },
      { status: { made: 1 }, conditions: [ready()], children: [{ number: '0' }, undefined] },
      { finalizers: undefined, children: [undefined, undefined] },
    ]);
    expect(clean.events).toEqual([
      'Normal Working',
      'Normal Made',
      'Normal Working',
      'Normal Made',
      // The last word, before it goes.
      'Normal Gone',
    ]);

    const calls = clean.fault.calls();
    expect(calls).toBeGreaterThan(20);
    const plans = Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) =>
      (['before', 'after'] as const).flatMap((when) =>
        (['lost', 'crash'] as const).map((what) => ({ call, when, what })),
      ),
    );
    const problems: string[] = [];
    const next = plans.values();
    const worker = async () => {
      for (const plan of next) {
        const name = `${plan.what}-${plan.when}-${plan.call}`;
        const { states, events, fault } = await live(name, plan);
        expect(states, name).toEqual(clean.states);
        expect(fault.calls(), name).toBeLessThanOrEqual(2 * calls);
        if (!isPartOf(events, clean.events)) problems.push(`${name}: ${events.join(', ')}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    console.info('crash plans', { calls, plans: plans.length });
    expect(problems).toEqual([]);
  });
});

/** Whether `some` is `all` with some left out, in the same order: an Event may be lost, never repeated. */
function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  let from = 0;
  return some.every((one) => {
    const found = all.indexOf(one, from);
    from = found + 1;
    return found >= 0;
  });
}
