import { type ItemKey, MAX_BATCH } from './table.ts';

/** Keys of items whose sizes are known in total only. */
export interface SizedKeys {
  readonly keys: readonly ItemKey[];
  /** What deleting all of them is expected to cost. */
  readonly units: number;
  /** What it can cost at most. */
  readonly most: number;
}

export interface BatchLimits {
  /** What one request may cost; a single key may cost more. */
  readonly units: number;
  /** What one item can cost at most. */
  readonly largestItem: number;
}

export interface SizedQueue {
  length(): number;
  push(page: SizedKeys): void;
  /** To the front. */
  giveBack(keys: SizedKeys): void;
  /**
   * The next batch. Undefined if there is not enough for a full one.
   * @param flush take what there is: no more will come
   */
  take(limits: BatchLimits, flush: boolean): SizedKeys | undefined;
}

/** Items of up to so many units on average share batches across pages; larger ones are kept apart. */
export const SMALL_ITEM_UNITS = 4;

interface Page extends SizedKeys {
  /** Keys taken already. */
  taken: number;
}

/** First in, first out, in batches cut by what they will cost. */
export function createSizedQueue(): SizedQueue {
  const pages: Page[] = [];
  let length = 0;

  function takeFrom(page: Page, count: number): SizedKeys {
    const keys = page.keys.slice(page.taken, page.taken + count);
    const most = mostOf(page);
    page.taken += keys.length;
    length -= keys.length;
    if (page.taken === page.keys.length) pages.splice(pages.indexOf(page), 1);
    return { keys, units: keys.length * averageOf(page), most };
  }

  /** Sizes may differ widely: safe is what fits if all of it comes in these keys, or if each is the largest there can be. */
  function takeLarge(page: Page, { units, largestItem }: BatchLimits): SizedKeys {
    const fits = mostOf(page) <= units ? MAX_BATCH : Math.floor(units / largestItem);
    const batch = takeFrom(page, Math.min(MAX_BATCH, Math.max(1, fits)));
    return { ...batch, most: Math.min(batch.most, batch.keys.length * largestItem) };
  }

  function takeSmall(first: Page, { units }: BatchLimits, flush: boolean): SizedKeys | undefined {
    const wanted = Math.min(MAX_BATCH, Math.max(1, Math.floor(units / averageOf(first))));
    const nextLarge = pages.findIndex(isLarge);
    const small = nextLarge === -1 ? pages : pages.slice(0, nextLarge);
    const available = small.reduce((sum, page) => sum + page.keys.length - page.taken, 0);
    if (available < wanted && nextLarge === -1 && !flush) return undefined;
    const parts: SizedKeys[] = [];
    let missing = wanted;
    for (const page of [...small]) {
      if (missing === 0) break;
      const part = takeFrom(page, missing);
      parts.push(part);
      missing -= part.keys.length;
    }
    return joined(parts);
  }

  return {
    length: () => length,
    push(page) {
      if (page.keys.length === 0) return;
      pages.push({ ...page, taken: 0 });
      length += page.keys.length;
    },
    giveBack(keys) {
      if (keys.keys.length === 0) return;
      pages.unshift({ ...keys, taken: 0 });
      length += keys.keys.length;
    },
    take(limits, flush) {
      const [first] = pages;
      if (!first) return undefined;
      return isLarge(first) ? takeLarge(first, limits) : takeSmall(first, limits, flush);
    },
  };
}

const averageOf = ({ keys, units }: SizedKeys): number => units / keys.length;

/** Each key that was taken cost one unit at least. */
const mostOf = ({ most, taken }: Page): number => most - taken;

const isLarge = (page: Page): boolean => averageOf(page) > SMALL_ITEM_UNITS;

function joined(parts: readonly SizedKeys[]): SizedKeys {
  const sum = (value: (part: SizedKeys) => number) =>
    parts.reduce((total, part) => total + value(part), 0);
  return {
    keys: parts.flatMap(({ keys }) => keys),
    units: sum(({ units }) => units),
    most: sum(({ most }) => most),
  };
}
