import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collector } from '../../functions/collector/operator.ts';
import type { HelmReleases } from '../../runtime/helm/release.ts';
import { type CollectorPlane, startCollectorPlane } from '../helpers/collector-plane.ts';
import { createMemoryReleases, withFaults } from '../helpers/collector-releases.ts';
import { specFor } from '../helpers/collector-system.ts';
import { type CrashPlan, createFaultPoint, type FaultPoint } from '../helpers/runtime-crash.ts';
import { recordOf, sqsRecord, type World } from '../helpers/runtime-world.ts';

const MAX_DELIVERIES = 20;

let plane: CollectorPlane;

beforeAll(async () => {
  plane = await startCollectorPlane();
});

afterAll(() => plane?.stop());

/** Delivers until all messages, those sent on the way too, are acknowledged. */
async function deliver(name: string, world: World, fault: FaultPoint): Promise<void> {
  const waiting = [recordOf(collector, name).body];
  for (let delivery = 0; waiting.length > 0; delivery += 1) {
    if (delivery === MAX_DELIVERIES) throw new Error(`${name} does not come to an end`);
    fault.restart();
    const { batchItemFailures } = await world.batch(sqsRecord(waiting[0] ?? '', name));
    if (batchItemFailures.length === 0) waiting.shift();
    waiting.push(...world.inbox.splice(0).map(({ hint }) => JSON.stringify(hint)));
  }
}

interface Engine {
  readonly releases: HelmReleases;
  names(): Promise<readonly string[]>;
}

interface Life {
  readonly name: string;
  readonly engine: Engine;
  readonly plan?: CrashPlan;
  /** Default false: only calls to Helm are struck. */
  readonly everyCall?: boolean;
}

/** The life of a collector: made, moved to another namespace, given another name, deleted. */
async function live({ name, engine, plan, everyCall = false }: Life) {
  const fault = createFaultPoint(plan);
  const kubeFault = everyCall ? fault : createFaultPoint();
  const world = plane.world(withFaults(engine.releases, fault), kubeFault);
  const states: unknown[] = [];
  const settle = async () => {
    await deliver(name, world, fault);
    const { conditions = [], ...status } = (await plane.get(name))?.status ?? {};
    const told = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    const found = (await engine.names()).filter((release) => release.startsWith(`${name}-`));
    const text = JSON.stringify({ found, told, status }, withoutDigest).replaceAll(`${name}-`, '');
    states.push(JSON.parse(text));
  };
  await plane.create(name, specFor(`${name}-old`));
  await settle();
  await plane.patch(name, { tenant: { reference: `${name}-new` } });
  await settle();
  if (everyCall) {
    await plane.patch(name, { tenant: { instance: 'two' } });
    await settle();
  }
  await plane.admin.delete(plane.ref(name), {});
  await settle();
  return { states, calls: fault.calls() };
}

/** It is of a manifest with the names of this life in it. */
const withoutDigest = (key: string, value: unknown): unknown =>
  key === 'manifestDigest' ? undefined : value;

const plansFor = (calls: number): readonly CrashPlan[] =>
  Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'after'] as const).map((when) => ({ call, when, what: 'crash' as const })),
  );

const told = ['Available True Deployed', 'Ready True Deployed'];

/** The same life, struck in every way. */
async function strike(clean: Life, lanes: number): Promise<void> {
  const { states, calls } = await live(clean);
  const plans = plansFor(calls);
  console.info('crash plans', { calls, plans: plans.length });
  const next = plans.values();
  const lane = async () => {
    for (const plan of next) {
      const name = `${clean.name}-${plan.when}-${plan.call}`;
      const struck = await live({ ...clean, name, plan });
      expect(struck.states, name).toEqual(states);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  expect(await clean.engine.names()).toEqual([]);
}

describe('a collector whose operator is struck', () => {
  test('at any call: is nowhere twice, leaves nothing behind, and ends as if nothing had happened', async () => {
    const life = { name: 'any', engine: createMemoryReleases(), everyCall: true };
    const { states } = await live({ ...life, name: 'clean' });
    expect(states).toMatchObject([
      { found: ['old/collector-sample-one'], told },
      { found: ['new/collector-sample-one'], told },
      { found: ['new/collector-sample-two'], told },
      { found: [], told: [], status: {} },
    ]);
    await strike(life, 4);
  });

  test('before or after any call to the real Helm: the same', async () => {
    const engine = { releases: plane.helm, names: () => plane.releaseNames() };
    const { states } = await live({ name: 'real-clean', engine });
    expect(states).toMatchObject([
      { found: ['old/collector-sample-one'] },
      { found: ['new/collector-sample-one'] },
      { found: [] },
    ]);
    await strike({ name: 'real', engine }, 2);
  });
});
