import { expect, test } from 'vitest';
import { createWriteBudget } from '../../functions/ddbctldpjob/write-budget.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

const { signal } = new AbortController();

function createBudget(unitsPerSecond: number) {
  const clock = createVirtualClock();
  const rate = {
    unitsPerSecond,
    pausedUntil: 0,
    shares: [] as number[],
    perSecond: () => rate.unitsPerSecond,
    isLimited: false,
    lookForMore: () => {},
    replied: ({ share }: { share: number }) => void rate.shares.push(share),
  };
  const budget = createWriteBudget(rate, clock);
  const startedAt = clock.now();
  /** Asks for all turns at once, and tells after how many milliseconds each was had. */
  const turns = async (...requests: readonly number[]) => {
    const waiting = requests.map(async (units) => {
      await budget.admit(units, signal);
      return clock.now() - startedAt;
    });
    await clock.advance(60_000);
    return Promise.all(waiting);
  };
  return { clock, rate, budget, turns };
}

test('spaces requests by their cost, in the order in which they ask', async () => {
  const { turns } = createBudget(50);
  const times = await turns(25, 25, 10, 25);
  for (const [index, expected] of [500, 1_000, 1_200, 1_700].entries()) {
    expect(Math.abs((times[index] ?? 0) - expected)).toBeLessThanOrEqual(2);
  }
});

test('makes nobody wait where there is no limit', async () => {
  const { turns } = createBudget(Infinity);
  expect(await turns(25, 1_000, 25)).toEqual([0, 0, 0]);
});

test('takes up a change of the rate while a request waits', async () => {
  const { clock, rate, turns } = createBudget(1);
  void clock.sleep(1_000).then(() => {
    rate.unitsPerSecond = 1_000;
  });
  const [time] = await turns(500);
  expect(time).toBeGreaterThan(1_400);
  expect(time).toBeLessThan(1_600);
});

test('keeps everything back during a pause', async () => {
  const { clock, rate, turns } = createBudget(Infinity);
  rate.pausedUntil = clock.now() + 5_000;
  expect(await turns(1)).toEqual([5_000]);
});

test('makes up for what a request cost more, and gives nothing back for what was refused', async () => {
  const { clock, budget } = createBudget(100);
  const wait = async (units: number, atMost: number) => {
    const from = clock.now();
    const admitting = budget.admit(units, signal);
    await clock.advance(atMost);
    const admission = await admitting;
    return { admission, milliseconds: admission.sentAt - from };
  };
  const cheap = await wait(25, 251);
  budget.settle(cheap.admission, { units: 525, share: 1 });
  const indebted = await wait(25, 5_251);
  expect(indebted.milliseconds).toBeGreaterThan(5_000);
  budget.settle(indebted.admission, { units: 5, share: 0.2 });
  expect((await wait(25, 1_000)).milliseconds).toBeGreaterThan(200);
});

test('tells the rate what became of a request, unless nobody knows', async () => {
  const { rate, budget } = createBudget(Infinity);
  const admission = await budget.admit(25, signal);
  budget.settle(admission, { units: 20, share: 0.8 });
  budget.settle(admission, { units: 25 });
  expect(rate.shares).toEqual([0.8]);
});

test.each([
  [Infinity, 500],
  [5_000, 500],
  [1_000, 500],
  [40, 25],
  [10, 10],
])('at %d units per second a request may cost %d', (unitsPerSecond, most) => {
  expect(createBudget(unitsPerSecond).budget.mostUnits()).toBe(most);
});

test('lets a stopped run go at once', async () => {
  const { budget } = createBudget(1);
  const stopping = new AbortController();
  const waiting = [budget.admit(25, stopping.signal), budget.admit(25, stopping.signal)];
  stopping.abort(new Error('stopped'));
  for (const one of waiting) await expect(one).rejects.toThrow('stopped');
});
