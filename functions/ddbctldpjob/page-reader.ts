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
  upTo?: ItemKey | undefined;
}

/** Stretches to be read at the same time. */
const STRETCHES = 4;
/** In one pass: each may cost a query that finds nothing. */
const MOST_STRETCHES = 64;
/** The first page is small, so that deleting begins at once; then they grow, up to what may well be held in memory. */
const FIRST_PAGE_KEYS = 400;
const MOST_PAGE_KEYS = 2_000;
/** A page should make one request at most: large items are read a few at a time. */
const PAGE_SHARE = 0.5;

/** Fills the pool with all keys of the partition; answers how many, or `undefined` if it did not come to the end. */
export async function readPages(options: PageReaderOptions): Promise<number | undefined> {
  const readers: Promise<number | undefined>[] = [];
  let active = 0;
  const read = async (stretch: Stretch): Promise<number | undefined> => {
    active += 1;
    const found = await readStretch(stretch, options, shareOut);
    active -= 1;
    return found;
  };
  // Whoever has read a page, and has more to read, leaves part of it to readers that have nothing to do.
  const shareOut: OnPage = async (stretch, after, seen) => {
    const free = Math.min(STRETCHES - active, MOST_STRETCHES - readers.length);
    if (free <= 0 || !options.shouldDivide()) return;
    const cuts = await cutsBeyond(after, stretch, { parts: free + 1, seen, options });
    if (cuts.length === 0) return;
    const isFirst = readers.length === 1;
    const { upTo: end } = stretch;
    // In time: the reader asks for its next page when this has returned.
    stretch.upTo = cuts[0];
    for (const [index, cut] of cuts.entries())
      readers.push(read({ after: cut, upTo: cuts[index + 1] ?? end }));
    if (isFirst) options.onDivided();
  };
  readers.push(read({}));
  let found = 0;
  let complete = true;
  // The list grows while readers are at work.
  for (let index = 0; index < readers.length; index += 1) {
    const count = await readers[index];
    found += count ?? 0;
    complete &&= count !== undefined;
  }
  return complete ? found : undefined;
}

type OnPage = (stretch: Stretch, after: ItemKey, seen: readonly ItemKey[]) => Promise<void>;

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
      const page = await readPage({ after, upTo: stretch.upTo, limit, consistent }, options);
      const { readUnits } = page;
      const keys = page.keys.length;
      const units = unitsOfPage({ keys, readUnits, consistent });
      run.add({ readUnits });
      sink.add({ keys: page.keys, units, most: units + keys });
      limit = nextLimit(limit, units / keys, options);
      found += keys;
      pages += 1;
      after = page.next;
      if (after !== undefined) await onPage(stretch, after, page.keys);
    } while (after !== undefined);
  } catch (error) {
    if (!run.stopped.aborted) run.fail(error);
    return undefined;
  }
  sink.end();
  return found;
}

interface Cutting {
  readonly parts: number;
  readonly seen: readonly ItemKey[];
  readonly options: PageReaderOptions;
}

async function cutsBeyond(
  after: ItemKey,
  { upTo }: Stretch,
  { parts, seen, options }: Cutting,
): Promise<readonly ItemKey[]> {
  const last = upTo ?? (await readPage({ backward: true, limit: 1 }, options)).keys[0];
  return last === undefined ? [] : cutRange(after, last, parts, seen);
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
