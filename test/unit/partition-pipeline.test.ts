import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCostEstimate, unitsOfPage } from '../../functions/ddbctldpjob/cost-estimate.ts';
import { createHedge } from '../../functions/ddbctldpjob/hedge.ts';
import { createSizedQueue } from '../../functions/ddbctldpjob/sized-queue.ts';
import { cutRange } from '../../functions/ddbctldpjob/sort-key-ranges.ts';
import type { ItemKey } from '../../functions/ddbctldpjob/table.ts';
import { readThrottle } from '../../functions/ddbctldpjob/throttling-reasons.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

const pages = fc.array(
  fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 60 }),
  {
    maxLength: 12,
  },
);

describe('batches drawn from pages of items of unknown sizes', () => {
  test('hold every key once, in order, and never cost more than a request may, but for a single item', () => {
    const property = fc.property(pages, fc.integer({ min: 400, max: 2_000 }), (sizes, units) => {
      const queue = createSizedQueue();
      const sizeOf = new Map<string, number>();
      for (const [page, items] of sizes.entries()) {
        const keys = items.map((size, index) => {
          sizeOf.set(`${page}-${index}`, size);
          return { S: `${page}-${index}` };
        });
        const total = items.reduce((sum, size) => sum + size, 0);
        queue.push({ keys, units: total, most: total });
      }
      const limits = { units, largestItem: 400 };
      const drawn: string[] = [];
      for (let batch = queue.take(limits, true); batch; batch = queue.take(limits, true)) {
        const names = batch.keys.map((key) => ('S' in key ? key.S : ''));
        const cost = names.reduce((sum, name) => sum + (sizeOf.get(name) ?? 0), 0);
        expect(names.length).toBeLessThanOrEqual(25);
        // Where items are small on average, a large one among them is taken at its average.
        const isLarge = batch.units / names.length > 4;
        if (isLarge && names.length > 1) expect(cost).toBeLessThanOrEqual(units);
        drawn.push(...names);
      }
      expect(drawn).toEqual([...sizeOf.keys()]);
      expect(queue.length()).toBe(0);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('are full across pages as long as pages come, and what is given back goes out first', () => {
    const queue = createSizedQueue();
    const limits = { units: 500, largestItem: 400 };
    const page = (name: string, count: number) => ({
      keys: Array.from({ length: count }, (_, index) => ({ S: `${name}${index}` })),
      units: count,
      most: count,
    });
    queue.push(page('a', 20));
    expect(queue.take(limits, false)).toBeUndefined();
    queue.push(page('b', 20));
    const first = queue.take(limits, false);
    expect(first?.keys).toHaveLength(25);
    queue.giveBack({ keys: [{ S: 'a3' }], units: 1, most: 1 });
    const second = queue.take(limits, true);
    expect(second?.keys[0]).toEqual({ S: 'a3' });
    expect(second?.keys).toHaveLength(16);
  });
});

describe('the estimate of what a delete costs', () => {
  test('follows from what the page took to read', () => {
    expect(unitsOfPage({ keys: 100, readUnits: 5, consistent: true })).toBe(100);
    expect(unitsOfPage({ keys: 10, readUnits: 50, consistent: true })).toBe(200);
    expect(unitsOfPage({ keys: 10, readUnits: 25, consistent: false })).toBe(200);
  });

  test('learns of indexes from the replies, however much single ones differ', () => {
    const estimate = createCostEstimate();
    expect(estimate.factor).toBe(1);
    for (let index = 0; index < 200; index += 1) estimate.learn(10, index % 2 === 0 ? 5 : 55);
    expect(estimate.factor).toBeGreaterThan(2.5);
    expect(estimate.factor).toBeLessThan(3.5);
  });
});

describe('cuts between two sort keys', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((one) => one.isWellFormed());
  const keyPairs = fc.oneof(
    fc.tuple(text, text).map(([one, other]): [ItemKey, ItemKey] => [{ S: one }, { S: other }]),
    fc
      .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer())
      .map(([one, other]): [ItemKey, ItemKey] => [{ N: String(one) }, { N: String(other) }]),
    fc
      .tuple(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8 }))
      .map(([one, other]): [ItemKey, ItemKey] => [{ B: one }, { B: other }]),
  );

  const compare = (one: ItemKey, other: ItemKey): number => {
    if ('N' in one && 'N' in other) return Number(one.N) - Number(other.N);
    const bytes = (key: ItemKey) =>
      'S' in key ? Buffer.from(key.S) : Buffer.from('B' in key ? key.B : []);
    return Buffer.compare(bytes(one), bytes(other));
  };

  test('lie strictly between them, in order, whatever the keys', () => {
    const seen = fc.array(
      text.map((S) => ({ S })),
      { maxLength: 5 },
    );
    const property = fc.property(keyPairs, seen, ([one, other], keys) => {
      const [low, high] = compare(one, other) <= 0 ? [one, other] : [other, one];
      if (compare(low, high) === 0) return;
      const line = [low, ...cutRange(low, high, 4, keys), high];
      for (const [index, key] of line.slice(1).entries()) {
        expect(compare(line[index] ?? low, key)).toBeLessThan(0);
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  const textOf = (key: ItemKey): string => ('S' in key ? key.S : '');

  test('are about equally far apart', () => {
    expect(cutRange({ N: '0' }, { N: '100' }, 4)).toEqual([{ N: '25' }, { N: '50' }, { N: '75' }]);
    const years = cutRange({ S: 'order#2020' }, { S: 'order#2028' }, 4);
    expect(years.map((cut) => textOf(cut).slice(0, 10))).toEqual([
      'order#2022',
      'order#2024',
      'order#2026',
    ]);
    const bytes = cutRange({ B: Uint8Array.of(0) }, { B: Uint8Array.of(200) }, 4);
    expect(bytes.map((cut) => ('B' in cut ? cut.B[0] : 0))).toEqual([50, 100, 150]);
  });

  test('follow from the symbols that the keys are made of, not from all that there are', () => {
    const numbers = cutRange({ S: '00000123' }, { S: '00019999' }, 4).map(textOf);
    for (const [index, cut] of numbers.entries())
      expect(Math.abs(Number(cut) - 5_000 * (index + 1))).toBeLessThan(500);
    const seen = [{ S: '01ab9f' }, { S: '02dc34' }];
    const identifiers = cutRange({ S: '01ab9f' }, { S: 'ffffff' }, 4, seen).map(textOf);
    for (const [index, cut] of identifiers.entries())
      expect(Math.abs(parseInt(cut, 16) / 16 ** cut.length - (index + 1) / 4)).toBeLessThan(0.05);
    expect([numbers.length, identifiers.length]).toEqual([3, 3]);
  });
});

describe('a call that hangs', () => {
  const never = new AbortController().signal;
  const createWorld = () => {
    const clock = createVirtualClock();
    const hedge = createHedge({ clock, stopped: never, cutOff: never, lastMs: 100 });
    return { clock, hedge };
  };

  test('is made once more beside itself, and the first answer counts', async () => {
    const { clock, hedge } = createWorld();
    let calls = 0;
    let repeats = 0;
    const answer = hedge(
      (signal) => {
        calls += 1;
        return calls === 1
          ? clock.sleep(60_000, signal).then(() => 1)
          : clock.sleep(5).then(() => 2);
      },
      () => {
        repeats += 1;
      },
    );
    await clock.advance(3_000);
    expect(await answer).toBe(2);
    expect({ calls, repeats }).toEqual({ calls: 2, repeats: 1 });
    expect(clock.timers).toBe(0);
  });

  test('fails only when all that were made have failed', async () => {
    const { clock, hedge } = createWorld();
    const failing = hedge((signal) =>
      clock.sleep(2_500, signal).then(() => Promise.reject(new Error('reset'))),
    );
    const ended = expect(failing).rejects.toThrow('reset');
    await clock.advance(20_000);
    await ended;
    expect(clock.timers).toBe(0);
  });
});

describe('throttling reasons', () => {
  const index = 'arn:aws:dynamodb:us-east-1:1:table/orders/index/by-date';
  test.each([
    [[{ reason: 'TableWriteKeyRangeThroughputExceeded', resource: 'arn' }], 'keyRange', 'KeyRange'],
    [[{ reason: 'IndexWriteProvisionedThroughputExceeded', resource: index }], 'index', 'by-date'],
    [[{ reason: 'TableWriteProvisionedThroughputExceeded' }], 'table', 'Provisioned'],
    [
      [
        { reason: 'TableWriteKeyRangeThroughputExceeded' },
        { reason: 'TableWriteAccountLimitExceeded' },
      ],
      'account',
      'AccountLimit',
    ],
  ])('%j mean %s', (ThrottlingReasons, by, detail) => {
    expect(readThrottle({ ThrottlingReasons })).toMatchObject({
      by,
      detail: expect.stringContaining(detail),
    });
    expect(readThrottle({ throttlingReasons: ThrottlingReasons })?.by).toBe(by);
  });

  test.each([[undefined], ['x'], [[]], [[null, 1, {}, { reason: 1 }]]])(
    '%j say nothing',
    (reasons) => {
      expect(readThrottle({ ThrottlingReasons: reasons })).toBeUndefined();
    },
  );
});
