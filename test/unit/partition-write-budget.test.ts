import { expect, test } from 'vitest';
import { createWriteBudget } from '../../functions/ddbctldpjob/write-budget.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

const { signal } = new AbortController();

/** Asks for a turn at once for each of `batches`, and tells after how many milliseconds each had it. */
async function turns(unitsPerSecond: number, batches: readonly number[]) {
  const clock = createVirtualClock();
  const budget = createWriteBudget(unitsPerSecond, clock);
  const start = clock.now();
  const waiting = batches.map(async (keys) => {
    await budget.admit(keys, signal);
    return clock.now() - start;
  });
  await clock.advance(60_000);
  return { clock, budget, times: await Promise.all(waiting) };
}

test('spaces batches by their cost, in the order in which they ask', async () => {
  const { times } = await turns(50, [25, 25, 10, 25]);
  expect(times).toEqual([0, 500, 1_000, 1_200]);
});

test('makes batches small enough to cost no more than one second', async () => {
  const { budget } = await turns(50, []);
  expect(budget.batchSize()).toBe(25);
  budget.expect(100, 250);
  expect(budget.batchSize()).toBe(5);
  budget.expect(1, 4_000);
  expect(budget.batchSize()).toBe(1);
});

test('believes the replies rather than the size of the items', async () => {
  const { budget } = await turns(100, []);
  const admitted = await budget.admit(10, signal);
  for (let reply = 0; reply < 30; reply += 1) {
    budget.settle(admitted, { deleted: 10, writeUnits: 200 });
  }
  budget.expect(100, 1);
  expect(budget.batchSize()).toBe(5);
});

test('makes up for what a batch cost more, and gives back what it did not cost', async () => {
  const { clock, budget } = await turns(100, []);
  const wait = async (keys: number): Promise<number> => {
    const from = clock.now();
    const admitting = budget.admit(keys, signal).then(() => clock.now() - from);
    await clock.advance(10_000);
    return admitting;
  };
  budget.settle(await budget.admit(25, signal), { deleted: 0, writeUnits: 0 });
  expect(await budget.admit(25, signal)).toBe(25);
  budget.settle(25, { deleted: 25, writeUnits: 525 });
  expect(await wait(1)).toBeGreaterThan(4_500);
});

test('saves up no more than a moment of unused time', async () => {
  const { clock, budget } = await turns(100, []);
  const start = clock.now();
  const waiting = [25, 25, 25].map((keys) =>
    budget.admit(keys, signal).then(() => clock.now() - start),
  );
  await clock.advance(10_000);
  const times = await Promise.all(waiting);
  expect(times).toEqual([0, 0, 250]);
});

test('lets a stopped run go at once', async () => {
  const clock = createVirtualClock();
  const budget = createWriteBudget(1, clock);
  const stopping = new AbortController();
  await budget.admit(25, stopping.signal);
  const waiting = budget.admit(25, stopping.signal);
  stopping.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
});
