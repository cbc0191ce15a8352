import { describe, expect, it } from 'vitest';
import { type ItemPlan, indexOf, itemOf, sortKeyOf, TARGET, unitsOf } from '../../bench/items.ts';
import { createBucket } from '../../bench/proxy/bucket.ts';
import { createMeter, type WriteRequest } from '../../bench/proxy/meter.ts';
import { unitsBetween } from '../../bench/proxy/timetable.ts';

const moving = [
  { fromSecond: 0, unitsPerSecond: 1_000 },
  { fromSecond: 10, unitsPerSecond: 300 },
  { fromSecond: 20, unitsPerSecond: 1_500 },
];
const deletes = (indexes: readonly number[], partition = TARGET): readonly WriteRequest[] =>
  indexes.map((index) => ({
    DeleteRequest: { Key: { pk: { S: partition }, sk: { S: sortKeyOf(index) } } },
  }));
const upTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index);
const always = () => true;

describe('the items of a run', () => {
  it('have the size that their number says, as DynamoDB counts it', () => {
    const plan: ItemPlan = { count: 1_000, bytes: { from: 100, to: 400 * 1024 } };
    const sizes = upTo(plan.count).map((index) => {
      const attributes = Object.entries(itemOf(plan, index));
      return attributes.reduce((sum, [name, { S }]) => sum + name.length + S.length, 0);
    });
    expect(sizes.map((bytes) => Math.ceil(bytes / 1024))).toEqual(
      upTo(plan.count).map((index) => unitsOf(plan, index)),
    );
    expect(Math.min(...sizes)).toBeLessThan(200);
    expect(Math.max(...sizes)).toBeGreaterThan(300 * 1024);
  });

  it('are found again by their sort key', () => {
    expect(upTo(50).map((index) => indexOf(sortKeyOf(index * 20_011)))).toEqual(
      upTo(50).map((index) => index * 20_011),
    );
  });
});

describe('the capacity of a table', () => {
  it('follows its timetable', () => {
    expect(unitsBetween(moving, 0, 10)).toBe(10_000);
    expect(unitsBetween(moving, 9, 21)).toBe(1_000 + 3_000 + 1_500);
    expect(unitsBetween(moving, 30, 32)).toBe(3_000);
  });

  it('gives its burst at once, then what the rate brings, and never more than the burst', () => {
    const bucket = createBucket([{ fromSecond: 0, unitsPerSecond: 10 }], 5);
    const takenAt = (second: number) => upTo(20).filter(() => bucket.take(1, second)).length;
    expect([takenAt(0), takenAt(0.3), takenAt(100)]).toEqual([5, 3, 5]);
  });

  it('lets a large item through and makes those after it wait until it is paid for', () => {
    const bucket = createBucket([{ fromSecond: 0, unitsPerSecond: 100 }], 100);
    expect(bucket.take(400, 0)).toBe(true);
    expect(bucket.debt()).toBe(300);
    expect(bucket.take(1, 3)).toBe(false);
    expect(bucket.take(1, 3.02)).toBe(true);
  });
});

describe('the meter', () => {
  const plan: ItemPlan = { count: 100, bytes: 2_000 };
  const cap = { timetable: [{ fromSecond: 0, unitsPerSecond: 20 }], burstUnits: 20 };

  it('counts an item by its size, and by one unit once it is gone', () => {
    const meter = createMeter(plan, undefined, () => 0);
    expect(meter.admit(deletes([1, 2, 3]), always).units).toBe(6);
    expect(meter.admit(deletes([1, 2, 3]), always).units).toBe(3);
    expect(meter.units()).toMatchObject({ deleted: 9, largestRequest: 6 });
  });

  it('counts items of another partition as none of the run', () => {
    const meter = createMeter(plan, undefined, () => 0);
    expect(meter.admit(deletes([1], 'another'), always).units).toBe(1);
    expect(meter.admit(deletes([1]), always).units).toBe(2);
  });

  it('refuses what the capacity does not allow, and tells it from what is accepted', () => {
    const meter = createMeter(plan, cap, () => 0);
    const { accepted, refused, units } = meter.admit(deletes(upTo(25)), always);
    expect([accepted.length, refused.length, units]).toEqual([10, 15, 20]);
    expect([...accepted, ...refused]).toEqual(deletes(upTo(25)));
  });

  it('calls it a share of one to take all there is, and of a half to take half', () => {
    const share = (waitSeconds: number): number => {
      let now = 50;
      const meter = createMeter(plan, cap, () => now);
      meter.admit(deletes(upTo(10)), always);
      now += waitSeconds;
      meter.admit(deletes(upTo(20).slice(10)), always);
      return meter.units().share;
    };
    expect(share(1)).toBeCloseTo(1);
    expect(share(3)).toBeCloseTo(0.5);
  });

  it('does not count as used what the bucket is in debt for', () => {
    const meter = createMeter({ count: 1, bytes: 100 * 1024 }, cap, () => 0);
    meter.admit(deletes([0]), always);
    expect(meter.units()).toMatchObject({ deleted: 100, share: 1 });
  });

  it('gives each range of sort keys a capacity of its own', () => {
    const meter = createMeter(plan, { ...cap, partitions: 4 }, () => 0);
    expect(meter.admit(deletes(upTo(25)), always).accepted).toHaveLength(10);
    expect(meter.admit(deletes([30, 60, 90]), always).accepted).toHaveLength(3);
  });
});
