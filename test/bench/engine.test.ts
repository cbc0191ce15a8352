import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, type Outcome, openBench } from '../../bench/bench.ts';
import type { ItemPlan } from '../../bench/items.ts';
import { callRatio } from '../../bench/parts/calls.ts';
import { refusedOf, shareOf } from '../../bench/parts/share.ts';
import type { JobResult } from '../../bench/peers/job.ts';
import { podless } from '../../bench/peers/list.ts';
import type { RunSettings } from '../../bench/proxy/settings.ts';
import { quickSizes } from '../../bench/sizes.ts';
import { NEIGHBOUR_TOTAL } from '../../bench/table.ts';
import { engines } from '../helpers/dynamodb-engines.ts';

/**
 * The bench in short: counts and shares only, with room for a slow machine. What it cannot tell, seconds and peers,
 * `npm run bench` does.
 */
const CAP_UNITS = 1_000;
const cap = {
  timetable: [{ fromSecond: 0, unitsPerSecond: CAP_UNITS }],
  burstUnits: CAP_UNITS,
};
const small = (count: number): ItemPlan => ({ count, bytes: 200 });
const quiet = { line: () => {}, status: () => {} };

// The better one that this machine has: dynalite's one thread is a poor judge, but a judge.
const engine = engines.filter(({ missing }) => missing === undefined).at(-1);
const missing = engines.flatMap((one) => (one.missing === undefined ? [] : [`; ${one.name}`]));

describe(`the bench in short, on ${engine?.name}${missing.join('')}`, () => {
  let bench: Bench;
  beforeAll(() => {
    if (!engine) throw new Error('there is no DynamoDB engine on this machine');
    const { signal } = new AbortController();
    bench = openBench({ startServer: engine.start, sizes: quickSizes, console: quiet, signal });
  });
  afterAll(() => bench?.close());

  const run = async (settings: RunSettings): Promise<Outcome> => {
    const peer = await bench.open(podless);
    try {
      return await bench.measure(peer, { settings });
    } finally {
      await peer.close();
    }
  };

  it('makes hardly a call more than the fewest that can do it', async () => {
    const items = { count: 5_000, bytes: 1_000 };
    const outcome = await run({ items, latencyMs: 0 });
    expect(outcome.result).toMatchObject({ deleted: 5_000, exact: true, finished: true });
    expect(outcome.left).toBe(0);
    expect(callRatio(outcome, items)).toBeLessThanOrEqual(1.02);
  });

  it('uses most of a cap that it is not told, and is seldom refused', async () => {
    const outcome = await run({ items: small(8_000), latencyMs: 5, cap });
    expect(outcome.result).toMatchObject({ deleted: 8_000, exact: true, finished: true });
    expect(outcome.left).toBe(0);
    expect(shareOf(outcome)).toBeGreaterThanOrEqual(0.8);
    expect(refusedOf(outcome)).toBeLessThanOrEqual(0.1);
  });

  it('asks for no more than a second of the cap in one request, whatever the items weigh', async () => {
    const items = { count: 120, bytes: { from: 100, to: 400 * 1024 } };
    const outcome = await run({ items, latencyMs: 5, cap });
    expect(outcome.result).toMatchObject({ deleted: 120, exact: true, finished: true });
    expect(outcome.counts.units.largestRequest).toBeLessThanOrEqual(CAP_UNITS);
    expect(shareOf(outcome)).toBeGreaterThanOrEqual(0.7);
  });

  it('deletes all and counts right although calls fail in every way', async () => {
    const faults = { unprocessed: 0.3, serverError: 0.05, reset: 0.02, hang: 0.01 };
    const outcome = await run({ items: small(8_000), latencyMs: 5, faults });
    expect(Object.values(outcome.counts.faults).every((count) => count > 0)).toBe(true);
    expect(outcome.result).toMatchObject({ deleted: 8_000, exact: true, finished: true });
    expect(outcome.left).toBe(0);
  });

  it('adds up over deadlines, and touches nothing but its partition', async () => {
    const items = small(8_000);
    await bench.withTable(items, async (table) => {
      const results: JobResult[] = [];
      while (results.at(-1)?.finished !== true && results.length < 100) {
        const peer = await bench.open(podless);
        const settings = { items, latencyMs: 50 };
        const { result } = await bench.runOn(table, peer, {
          settings,
          deadlineMs: 400,
          continued: results.length > 0,
        });
        await peer.close();
        results.push(result);
      }
      expect(results.length).toBeGreaterThan(1);
      expect(results.every(({ exact }) => exact === true)).toBe(true);
      expect(results.reduce((sum, { deleted = 0 }) => sum + deleted, 0)).toBe(items.count);
      expect(await table.countTarget()).toBe(0);
      expect(await table.countNeighbours()).toBe(NEIGHBOUR_TOTAL);
    });
  });
});
