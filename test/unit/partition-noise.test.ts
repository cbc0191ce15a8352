import { describe, expect, test } from 'vitest';
import { deletePartition } from '../../functions/ddbctldpjob/delete-partition.ts';
import { createVainCuts, type Epoch } from '../../functions/ddbctldpjob/vain-cuts.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { drive } from '../helpers/dynamodb-drive.ts';
import {
  createMeteredTable,
  type MeteredOptions,
  sizedItems,
} from '../helpers/dynamodb-metered-table.ts';

type Given = Omit<MeteredOptions, 'clock'> & {
  readonly items: number;
  /** Of one run, until it is asked to stop. Default: of a function that lives for five seconds. */
  readonly workMs?: number;
};

const HANDOVER_MS = 200;

/** Deletes all of it, in as many runs as it takes; each knows nothing of those before. */
async function deleteInRuns({ items, workMs = 3_500, ...metered }: Given) {
  const clock = createVirtualClock();
  const table = createMeteredTable(sizedItems(items), { clock, ...metered });
  const startedAt = clock.now();
  let deleted = 0;
  let runs = 0;
  for (let finished = false; !finished; runs += 1) {
    const stopping = new AbortController();
    const over = new AbortController();
    const stop = clock.sleep(workMs, over.signal).then(
      () => stopping.abort(),
      () => {}, // Done before.
    );
    const options = { random: seededRandom(runs), graceMs: 900, continued: runs > 0 };
    const run = deletePartition(table, { clock, signal: stopping.signal, ...options });
    const result = await drive(clock, run);
    over.abort();
    await stop;
    expect(result.failure).toBeUndefined();
    deleted += result.deleted;
    finished = result.finished;
    await clock.advance(HANDOVER_MS);
  }
  expect(deleted).toBe(items);
  const last = table.requests.at(-1)?.at ?? startedAt;
  return { table, runs, msPerCall: (last - startedAt) / table.requests.length };
}

const unlimited = () => 1e9;
const noisy = (noise: object, seed = 1) => ({ noise: { random: seededRandom(seed), ...noise } });

describe('a table that refuses at random, whatever the rate', () => {
  const usual = { unprocessed: 0.3, throttled: 0.05, serverErrors: 0.05 };

  test.each([
    { latencyMs: 45, seed: 1 },
    { latencyMs: 80, seed: 1 },
    { latencyMs: 80, seed: 2 },
  ])(
    'costs more calls, but little more time for each, also in short runs (%j)',
    async ({ latencyMs, seed }) => {
      const given = { items: 50_000, cap: unlimited, latencyMs };
      const clean = await deleteInRuns(given);
      const faulty = await deleteInRuns({ ...given, ...noisy(usual, seed) });
      expect(faulty.runs).toBeGreaterThan(5);
      // The waits after a throttled or failed call are in it too.
      expect(faulty.msPerCall / clean.msPerCall).toBeLessThan(1.5);
    },
  );

  test.each([
    { noise: { unprocessed: 0.05 }, times: 1.5 },
    { noise: { unprocessed: 0.6 }, times: 1.5 },
    { noise: { throttled: 0.1 }, times: 2 },
    { noise: { throttled: 0.3 }, times: 5 },
  ])('is seen through with $noise', async ({ noise, times }) => {
    const given = { items: 20_000, cap: unlimited, latencyMs: 20 };
    const clean = await deleteInRuns(given);
    const faulty = await deleteInRuns({ ...given, ...noisy(noise) });
    expect(faulty.msPerCall / clean.msPerCall).toBeLessThan(times);
  });

  test('and has a limit besides is still used', async () => {
    const given = { items: 20_000, cap: () => 1_000, workMs: 900_000 };
    const { table } = await deleteInRuns({ ...given, ...noisy(usual) });
    expect(table.shareUsed()).toBeGreaterThan(0.5);
  });
});

describe('a limit is not taken for chance', () => {
  test.each([50, 150, 250, 350, 500, 700, 900])('if it is %d', async (limit) => {
    const { table } = await deleteInRuns({
      items: 20 * limit,
      cap: () => limit,
      workMs: 900_000,
    });
    expect(table.shareUsed()).toBeGreaterThan(0.95);
    expect(table.requests.filter(({ refused }) => refused).length).toBeLessThan(40);
  });

  test('for long, even if it moves as quickly as the rate', async () => {
    const cap = (second: number) => 600 + 400 * Math.sin(2.1 * second);
    const { table } = await deleteInRuns({ items: 24_000, cap, workMs: 900_000 });
    expect(table.shareUsed()).toBeGreaterThan(0.8);
    expect(table.refusedShare()).toBeLessThan(0.25);
  });
});

describe('cuts', () => {
  const verdict = (...epochs: readonly Epoch[]) => {
    const cuts = createVainCuts(createVirtualClock());
    for (const epoch of epochs) cuts.add(epoch);
    return cuts.found;
  };
  const at = (rate: number, share: number, replies = 4): Epoch => ({ rate, share, replies });

  test('are in vain if as large a share is refused as before', () => {
    expect(verdict(at(1_000, 0.65))).toBe(false);
    expect(verdict(at(1_000, 0.65), at(650, 0.7))).toBe(true);
    expect(verdict(at(1_000, 0.2), at(300, 0.25))).toBe(true);
    // After bad luck at first.
    expect(verdict(at(1_000, 0.1), at(300, 0.7), at(200, 0.7))).toBe(true);
  });

  test('are not if more of it is taken, or far less: then the limit is lower still', () => {
    expect(verdict(at(1_000, 0.65), at(650, 0.95))).toBe(false);
    expect(verdict(at(1_000, 0.1), at(300, 0.33), at(95, 1))).toBe(false);
    expect(verdict(at(1_000, 0.65), at(650, 0.1))).toBe(false);
  });

  test('need more to go by where little is refused', () => {
    const light = [1_000, 900, 810].map((rate) => at(rate, 0.9));
    expect(verdict(...light)).toBe(false);
    expect(verdict(...light, at(730, 0.9), at(660, 0.9))).toBe(true);
  });

  test('are taken up again if without a limit still less is taken, or after a while', async () => {
    const clock = createVirtualClock();
    const cuts = createVainCuts(clock);
    const chance = [at(1_000, 0.6), at(600, 0.6)];
    for (const epoch of chance) cuts.add(epoch);
    expect(cuts.isRefutedBy(at(9_000, 0.1))).toBe(false);
    expect(cuts.isRefutedBy(at(9_000, 0.5, 8))).toBe(false);
    expect(cuts.isRefutedBy(at(9_000, 0.1, 8))).toBe(true);
    expect(cuts.found).toBe(false);

    for (const epoch of chance) cuts.add(epoch);
    expect(cuts.found).toBe(true);
    await clock.advance(10_000);
    expect(cuts.found).toBe(false);
  });
});
