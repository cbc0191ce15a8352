import { type Timetable, unitsBetween } from './timetable.ts';

/** The write capacity of one physical partition. Moments are seconds since the first write. */
export interface Bucket {
  /** True if the item may be deleted now. */
  take(units: number, second: number): boolean;
  /** How far below zero it is. */
  debt(): number;
}

/**
 * Fills at the timetable's rate up to its burst, and is full at first. What is in it lets an item through whatever the item
 * costs, and a large one leaves it in debt: how large a deleted item was is known only once it is found. (Were the whole
 * cost asked for in advance, small items would starve a large one for ever.)
 */
export function createBucket(timetable: Timetable, burstUnits: number): Bucket {
  let level = burstUnits;
  let filledAt = 0;
  return {
    take(units, second) {
      level = Math.min(burstUnits, level + unitsBetween(timetable, filledAt, second));
      filledAt = second;
      if (level < 1) return false;
      level -= units;
      return true;
    },
    debt: () => Math.max(0, -level),
  };
}
