import { seededRandom } from '../local/seeded-random.ts';

/** The items of one run: what there is follows from the number alone, so that nobody has to keep a list of a million. */
export interface ItemPlan {
  readonly count: number;
  /** Of each item as DynamoDB counts it, names and keys included; a range is spread evenly over the orders of magnitude. */
  readonly bytes: number | { readonly from: number; readonly to: number };
}

export const PARTITION_KEY = 'pk';
export const SORT_KEY = 'sk';
export const TARGET = 'target';
/** Partitions that differ from the target by little; every run checks that they keep all their items. */
export const NEIGHBOURS = ['targe', 'target2', 'target ', 'Target'] as const;
/** dynamodb-toolbox knows the items of its entities by this attribute and skips all others. */
export const ENTITY = { attribute: '_et', value: 'item' } as const;

const PAYLOAD = 'v';
const SORT_KEY_DIGITS = 8;
const SMALLEST =
  PARTITION_KEY.length +
  TARGET.length +
  SORT_KEY.length +
  SORT_KEY_DIGITS +
  ENTITY.attribute.length +
  ENTITY.value.length +
  PAYLOAD.length;

const KILOBYTE = 1024;

export const sortKeyOf = (index: number): string => String(index).padStart(SORT_KEY_DIGITS, '0');
export const indexOf = (sortKey: string): number => Number(sortKey);

export function bytesOf({ bytes }: ItemPlan, index: number): number {
  if (typeof bytes === 'number') return bytes;
  const share = seededRandom(index + 1)();
  return Math.round(bytes.from * (bytes.to / bytes.from) ** share);
}

export const unitsOf = (plan: ItemPlan, index: number): number =>
  Math.ceil(bytesOf(plan, index) / KILOBYTE);

export function totalBytes(plan: ItemPlan): number {
  if (typeof plan.bytes === 'number') return plan.bytes * plan.count;
  let sum = 0;
  for (let index = 0; index < plan.count; index += 1) sum += bytesOf(plan, index);
  return sum;
}

/** As many items as a page of 1 MB can hold: it ends with the item that goes beyond. */
export const mostItemsOfPage = ({ bytes }: ItemPlan): number =>
  Math.floor(KILOBYTE ** 2 / (typeof bytes === 'number' ? bytes : bytes.from)) + 1;

/** In DynamoDB's own notation. */
export function itemOf(plan: ItemPlan, index: number, partition: string = TARGET) {
  return {
    [PARTITION_KEY]: { S: partition },
    [SORT_KEY]: { S: sortKeyOf(index) },
    [ENTITY.attribute]: { S: ENTITY.value },
    [PAYLOAD]: { S: 'x'.repeat(bytesOf(plan, index) - SMALLEST) },
  };
}

/** The fewest calls that can do it: full batches, full pages, and three to look at the table and to see it empty. */
export const idealCalls = (plan: ItemPlan): number =>
  Math.ceil(plan.count / 25) + Math.ceil(totalBytes(plan) / KILOBYTE ** 2) + 3;
