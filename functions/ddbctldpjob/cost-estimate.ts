/** What it costs to delete items of which only the keys were read. */
export interface CostEstimate {
  /** How many times the table's own units a delete really costs: indexes, and what rounding up adds. */
  readonly factor: number;
  /** What requests of so many units, as estimated here, did cost. */
  learn(estimated: number, actual: number): void;
}

export interface ReadPage {
  readonly keys: number;
  readonly readUnits: number;
  readonly consistent: boolean;
}

/** A read unit pays for 4 KB, or for 8 KB where the read need not be consistent; a write unit for 1 KB. */
const KILOBYTES_CONSISTENT = 4;
const KILOBYTES_EVENTUAL = 8;

export const LARGEST_ITEM_UNITS = 400;

/** Write units for all items of a page, by what reading them took; without indexes. */
export const unitsOfPage = ({ keys, readUnits, consistent }: ReadPage): number =>
  Math.max(keys, readUnits * (consistent ? KILOBYTES_CONSISTENT : KILOBYTES_EVENTUAL));

/** How much of what was seen before still counts beside the newest reply. */
const KEPT = 0.95;

/** Over sums, not over ratios: where sizes differ, the ratio of one small request says little. */
export function createCostEstimate(): CostEstimate {
  let estimatedSum = 0;
  let actualSum = 0;
  return {
    get factor() {
      return actualSum > 0 ? actualSum / estimatedSum : 1;
    },
    learn(estimated, actual) {
      if (!(estimated > 0)) return;
      estimatedSum = estimatedSum * KEPT + estimated;
      actualSum = actualSum * KEPT + actual;
    },
  };
}
