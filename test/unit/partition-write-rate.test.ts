import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DeletePartitionOptions,
  deletePartition,
} from '../../functions/ddbctldpjob/delete-partition.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { drive } from '../helpers/dynamodb-drive.ts';
import {
  createMeteredTable,
  type MeteredOptions,
  sizedItems,
} from '../helpers/dynamodb-metered-table.ts';

type Given = Omit<MeteredOptions, 'clock'> & {
  readonly sizes: ReadonlyMap<string, number>;
  readonly options?: Partial<DeletePartitionOptions>;
};

/** Deletes all of it, in virtual time. */
async function deleteAll({ sizes, options, ...metered }: Given) {
  const clock = createVirtualClock();
  const table = createMeteredTable(sizes, { clock, ...metered });
  const { signal } = new AbortController();
  const random = seededRandom(1);
  const startedAt = clock.now();
  const result = await drive(clock, deletePartition(table, { clock, signal, random, ...options }));
  expect(result).toMatchObject({ deleted: sizes.size, exact: true, finished: true });
  expect(table.items.size).toBe(0);
  const last = table.requests.at(-1)?.at ?? startedAt;
  return { table, result, seconds: (last - startedAt) / 1_000 };
}

describe('a table with a limit that nobody told us', () => {
  test.each([
    { latencyMs: 5, burstSeconds: 1 },
    { latencyMs: 25, burstSeconds: 1 },
    { latencyMs: 5, burstSeconds: 5 },
  ])(
    'is used to the full with hardly a refusal, given $latencyMs ms and $burstSeconds s of burst',
    async (given) => {
      const { table } = await deleteAll({ sizes: sizedItems(30_000), cap: () => 1_000, ...given });
      expect(table.shareUsed()).toBeGreaterThan(0.97);
      expect(table.refusedShare()).toBeLessThan(0.03);
    },
  );

  test('is followed when the limit moves down and up', async () => {
    const cap = (second: number) => (second < 10 ? 1_000 : second < 20 ? 300 : 1_500);
    const { table } = await deleteAll({ sizes: sizedItems(28_000), cap });
    expect(table.shareUsed()).toBeGreaterThan(0.9);
    expect(table.refusedShare()).toBeLessThan(0.05);
  });

  test.each([
    { limit: 20, share: 0.8 },
    { limit: 100, share: 0.95 },
  ])('of only $limit units per second is used well too', async ({ limit, share }) => {
    const { table } = await deleteAll({ sizes: sizedItems(40 * limit), cap: () => limit });
    expect(table.shareUsed()).toBeGreaterThan(share);
  });

  test('is not slowed down where there is none', async () => {
    const { table, result } = await deleteAll({ sizes: sizedItems(5_000), cap: () => 1e9 });
    expect(table.refusedShare()).toBe(0);
    expect(table.requests).toHaveLength(200);
    expect(result.throttledBy).toBeUndefined();
  });
});

describe('items of very different sizes', () => {
  const random = seededRandom(7);
  const logUniform = () => Math.ceil(0.1 * 4_000 ** random());
  const mixed = sizedItems(1_500, logUniform);

  test('are deleted at the limit, and no request takes more than a second of it', async () => {
    const { table } = await deleteAll({ sizes: mixed, cap: () => 1_000 });
    expect(Math.max(...table.requests.map(({ units }) => units))).toBeLessThanOrEqual(1_000);
    expect(table.shareUsed()).toBeGreaterThan(0.95);
  });

  test('keep to a given limit as well', async () => {
    const { table, result, seconds } = await deleteAll({
      sizes: mixed,
      cap: () => 1e9,
      options: { maxWriteUnitsPerSecond: 2_000 },
    });
    expect(result.writeUnits / seconds).toBeLessThan(2_200);
    expect(Math.max(...table.requests.map(({ units }) => units))).toBeLessThanOrEqual(2_000);
  });

  test('of 400 KB go out one by one where the limit is low', async () => {
    const sizes = sizedItems(40, () => 400);
    const { table } = await deleteAll({ sizes, cap: () => 1_000, burstSeconds: 2 });
    expect(table.requests.every(({ units }) => units <= 800)).toBe(true);
  });
});

describe('what a refusal says', () => {
  test('of an index is told, and the table is not divided', async () => {
    const detail = 'IndexWriteProvisionedThroughputExceeded of index by-date';
    const reports: (string | undefined)[] = [];
    const { table } = await deleteAll({
      sizes: sizedItems(6_000),
      cap: () => 500,
      throttle: { by: 'index', detail },
      options: {
        onProgress: async ({ throttledBy }) => {
          reports.push(throttledBy);
          return true;
        },
      },
    });
    expect(reports).toContain(detail);
    expect(table.seen.pages).toBeLessThan(12);
  });

  test('of the account makes everything pause for seconds', async () => {
    const throttle = { by: 'account', detail: 'TableWriteAccountLimitExceeded' } as const;
    const { table } = await deleteAll({ sizes: sizedItems(4_000), cap: () => 1_000, throttle });
    const gaps = table.requests.map(({ at }, index) => at - (table.requests[index - 1]?.at ?? at));
    expect(Math.max(...gaps)).toBeGreaterThanOrEqual(5_000);
  });
});

describe('a collection that lies on four machines is deleted from several sides at once', () => {
  const random = seededRandom(3);
  const padded = (index: number) => `item${String(index).padStart(6, '0')}`;
  const hexadecimal = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const minutes = (count: number) => new Date(Date.UTC(2024, 0, 5, 0, count)).toISOString();
  const kinds = ['ADDRESS', 'ORDER', 'PAYMENT', 'USER'];

  test.each([
    { made: 'padded numbers', times: 2.5, nameOf: (index: number) => padded(index) },
    {
      made: 'random identifiers',
      times: 2.5,
      nameOf: () => `${hexadecimal(8)}-${hexadecimal(12)}`,
    },
    { made: 'plain numbers', times: 1.8, nameOf: String },
    { made: 'times', times: 1.8, nameOf: minutes },
    {
      made: 'kinds and numbers',
      times: 1.8,
      nameOf: (index: number) => `${kinds[index % 4]}#${index}`,
    },
  ])('if its sort keys are $made', async ({ nameOf, times }) => {
    const sizes = new Map(Array.from({ length: 40_000 }, (_, index) => [nameOf(index), 1]));
    const given = { sizes, cap: () => 1_000 };
    const one = await deleteAll(given);
    const four = await deleteAll({ ...given, machines: 4 });
    expect(one.seconds / four.seconds).toBeGreaterThan(times);
    expect(four.table.shareUsed()).toBeGreaterThan(times / 4.1);
    expect(one.table.refusedShare()).toBeLessThan(0.035);
  });
});

test('every key is deleted once, and the limit is used, whatever it is and however many machines there are', async () => {
  const world = fc.record({
    limit: fc.integer({ min: 100, max: 3_000 }),
    latencyMs: fc.integer({ min: 1, max: 40 }),
    burstSeconds: fc.double({ min: 0.5, max: 5, noNaN: true }),
    machines: fc.integer({ min: 1, max: 9 }),
    digits: fc.constantFrom('0123456789', '0123456789abcdef', 'ABCDEFGHJKMNPQRSTVWXYZ', 'aeiou'),
    seed: fc.integer(),
  });
  const property = fc.asyncProperty(world, async ({ limit, digits, seed, ...metered }) => {
    const random = seededRandom(seed);
    const name = () =>
      Array.from({ length: 9 }, () => digits[Math.floor(random() * digits.length)]).join('');
    // For a quarter of a minute of one machine.
    const sizes = new Map(Array.from({ length: 15 * limit }, () => [name(), 1]));
    // The table itself refuses to delete a key twice.
    const { table } = await deleteAll({ sizes, cap: () => limit, ...metered });
    expect(table.shareUsed() * metered.machines).toBeGreaterThan(0.8);
  });
  await fc.assert(property, { numRuns: 12 });
});

test('reads consistently only where it must: the first page, and the last look', async () => {
  const fresh = await deleteAll({ sizes: sizedItems(20_000), cap: () => 1e9 });
  expect(fresh.table.seen).toEqual({ pages: 22, consistentPages: 2 });
  const options = { continued: true };
  const continued = await deleteAll({ sizes: sizedItems(20_000), cap: () => 1e9, options });
  expect(continued.table.seen).toEqual({ pages: 22, consistentPages: 5 });
});
