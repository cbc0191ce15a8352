import { type CostEstimate, unitsOfPage } from './cost-estimate.ts';
import type { DeletionRun } from './deletion-run.ts';
import type { Hedge } from './hedge.ts';
import type { KeyPool } from './key-pool.ts';
import type { Retry } from './retry.ts';
import { SMALL_ITEM_UNITS } from './sized-queue.ts';
import { cutRange } from './sort-key-ranges.ts';
import type { ItemKey, KeyPage, PageQuery, Partition } from './table.ts';
import type { WriteBudget } from './write-budget.ts';

export interface PageReaderOptions {
  readonly run: DeletionRun;
  readonly pool: KeyPool;
  readonly partition: Partition;
  readonly retry: Retry;
  readonly hedge: Hedge;
  readonly budget: WriteBudget;
  readonly estimate: CostEstimate;
  /** So many pages of each stretch are consistent reads. */
  readonly consistentPages: number;
  /** Whether the table has shown a limit that going at it from several sides may get around. */
  readonly shouldDivide: () => boolean;
  readonly onDivided: () => void;
}

/** A part of the sort keys, read by one reader. */
interface Stretch {
  readonly after?: ItemKey | undefined;
  before?: ItemKey | undefined;
}

/** Into so many stretches a partition is divided, once a pass. */
const STRETCHES = 4;
/** The first page is small, so that deleting begins at once; then they grow, up to what may well be held in memory. */
const FIRST_PAGE_KEYS = 400;
const MOST_PAGE_KEYS = 2_000;
/** A page should make one request at most: large items are read a few at a time. */
const PAGE_SHARE = 0.5;

/** Fills the pool with all keys of the partition; answers how many, or `undefined` if it did not come to the end. */
export async function readPages(options: PageReaderOptions): Promise<number | undefined> {
  const readers: Promise<number | undefined>[] = [];
  let divided = false;
  const divide: OnPage = async (after, stretch) => {
    if (divided || !options.shouldDivide()) return;
    divided = true;
    const cuts = await cutsBeyond(after, options);
    if (cuts.length === 0) return;
    // In time: the reader asks for its next page when this has returned. An item that lies right on a cut is left to the
    // next pass; in two stretches it would be counted twice.
    stretch.before = cuts[0];
    for (const [index, cut] of cuts.entries()) {
      readers.push(readStretch({ after: cut, before: cuts[index + 1] }, options, async () => {}));
    }
    options.onDivided();
  };
  readers.push(readStretch({}, options, divide));
  let found = 0;
  let complete = true;
  // The list grows while its first reader is at work.
  for (let index = 0; index < readers.length; index += 1) {
    const count = await readers[index];
    found += count ?? 0;
    complete &&= count !== undefined;
  }
  return complete ? found : undefined;
}

type OnPage = (after: ItemKey, stretch: Stretch) => Promise<void>;

async function readStretch(
  stretch: Stretch,
  options: PageReaderOptions,
  onPage: OnPage,
): Promise<number | undefined> {
  const { run, pool, consistentPages } = options;
  const sink = pool.addReader();
  let found = 0;
  let pages = 0;
  let limit = FIRST_PAGE_KEYS;
  let { after } = stretch;
  try {
    do {
      await sink.room();
      const consistent = pages < consistentPages;
      const page = await readPage({ after, before: stretch.before, limit, consistent }, options);
      const { readUnits } = page;
      const keys = page.keys.length;
      const units = unitsOfPage({ keys, readUnits, consistent });
      run.add({ readUnits });
      sink.add({ keys: page.keys, units, most: units + keys });
      limit = nextLimit(limit, units / keys, options);
      found += keys;
      pages += 1;
      after = page.next;
      if (after !== undefined) await onPage(after, stretch);
    } while (after !== undefined);
  } catch (error) {
    if (!run.stopped.aborted) run.fail(error);
    return undefined;
  }
  sink.end();
  return found;
}

async function cutsBeyond(after: ItemKey, options: PageReaderOptions): Promise<readonly ItemKey[]> {
  const { keys } = await readPage({ backward: true, limit: 1 }, options);
  const [last] = keys;
  return last === undefined ? [] : cutRange(after, last, STRETCHES);
}

const readPage = (
  query: Omit<PageQuery, 'signal'>,
  { partition, retry, hedge, run }: PageReaderOptions,
): Promise<KeyPage> =>
  retry.call(
    () =>
      hedge((over) => partition.page({ ...query, signal: AbortSignal.any([over, run.stopped]) })),
    () => run.stopped,
  );

function nextLimit(
  limit: number,
  unitsPerKey: number,
  { budget, estimate }: PageReaderOptions,
): number {
  if (!(unitsPerKey > SMALL_ITEM_UNITS)) return Math.min(2 * limit, MOST_PAGE_KEYS);
  return Math.max(
    1,
    Math.floor((budget.mostUnits() * PAGE_SHARE) / (unitsPerKey * estimate.factor)),
  );
}
