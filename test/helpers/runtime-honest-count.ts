import { expect } from 'vitest';
import type { JobState } from './system.ts';

/** Either the exact number, or a smaller one that says so. */
export function expectHonest({ deletedItems, deletedItemsExact }: JobState, items: number): void {
  if (deletedItemsExact === false) expect(deletedItems).toBeLessThanOrEqual(items);
  else expect(deletedItems).toBe(items);
}
