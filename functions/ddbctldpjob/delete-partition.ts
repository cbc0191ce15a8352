import type { Clock } from '../../runtime/clock.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { createBatchSender, type SendBatch } from './batch-sender.ts';
import { type CostEstimate, createCostEstimate, LARGEST_ITEM_UNITS } from './cost-estimate.ts';
import { deleteOnlyItem } from './delete-only-item.ts';
import { createDeletionRun, type DeletionRun } from './deletion-run.ts';
import { createHedge, type Hedge } from './hedge.ts';
import { createKeyPool, type KeyPool } from './key-pool.ts';
import { readPages } from './page-reader.ts';
import { createRetry, type Retry } from './retry.ts';
import { MAX_BATCH, type Partition } from './table.ts';
import { createWriteBudget, type WriteBudget } from './write-budget.ts';
import { createWriteRate, type WriteRate } from './write-rate.ts';

export interface DeletePartitionOptions {
  readonly clock: Clock;
  /** Asks to stop: no new batch is begun, those under way may end within the grace period. */
  readonly signal: AbortSignal;
  /** Default 5,000. */
  readonly graceMs?: number;
  /** Default 8. */
  readonly batchesInFlight?: number;
  /** An earlier run has deleted from this partition, a moment ago perhaps. Default false. */
  readonly continued?: boolean;
  /** Default: no limit. */
  readonly maxWriteUnitsPerSecond?: number | undefined;
  /**
   * Called about every two seconds, also while nothing moves; deletions go on meanwhile. False stops the work, as the
   * signal does. A rejection stops it too and is thrown in the end.
   */
  readonly onProgress?: (progress: DeletionProgress) => Promise<boolean>;
  /** Between 0 and 1. Default: Math.random. */
  readonly random?: () => number;
}

export interface DeletionProgress {
  readonly deleted: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Whose limit holds the work back, where DynamoDB has said so in the last seconds. */
  readonly throttledBy?: string | undefined;
}

export interface DeletionResult extends DeletionProgress {
  /** False if a reply was still missing at the end: then `deleted` means "at least". */
  readonly exact: boolean;
  /** True only if a consistent read saw the partition empty. */
  readonly finished: boolean;
  /** Why it gave up; the figures tell what was done before. */
  readonly failure?: OperatorError;
}

const PROGRESS_MS = 2_000;
const BATCHES_IN_FLIGHT = 8;
const GRACE_MS = 5_000;
/** Of the grace period: a batch without an answer is sent again three times before it is over. */
const REPEAT_AFTER_SHARE = 0.25;
/** Keys that the run before may have had in hand when it ended fit into so many pages. */
const PAGES_IN_DOUBT = 4;

/** Deletes every item of a partition, in as many passes as it takes to find it empty. Safe to repeat. */
export async function deletePartition(
  partition: Partition,
  options: DeletePartitionOptions,
): Promise<DeletionResult> {
  const { clock, signal, graceMs = GRACE_MS } = options;
  const run = createDeletionRun(clock, graceMs);
  if (signal.aborted) run.stop();
  signal.addEventListener('abort', run.stop);
  const reporting = reportProgress(run, options);
  const tools = createTools(partition, run, options);
  if (partition.deleteOnlyItem && !signal.aborted) await deleteOnlyItem(run, tools);
  const finished = await deleteInPasses(run, tools, options.continued ?? false);
  run.end();
  // A report under way must not overtake what the caller does with the result.
  await reporting;
  signal.removeEventListener('abort', run.stop);

  const { progress, exact, failure } = run;
  if (failure === undefined) return { ...progress, exact, finished };
  if (failure instanceof OperatorError) return { ...progress, exact, finished, failure };
  throw failure;
}

/** Made once a run, so that what was learnt of the table survives a pass. */
interface Tools {
  readonly partition: Partition;
  readonly retry: Retry;
  readonly hedge: Hedge;
  readonly rate: WriteRate;
  readonly budget: WriteBudget;
  readonly estimate: CostEstimate;
  readonly send: SendBatch;
  readonly batchesInFlight: number;
}

function createTools(
  partition: Partition,
  run: DeletionRun,
  options: DeletePartitionOptions,
): Tools {
  const { clock, random, graceMs = GRACE_MS, batchesInFlight = BATCHES_IN_FLIGHT } = options;
  const { stopped, cutOff } = run;
  const retry = createRetry({ clock, random, hurry: stopped });
  const hedge = createHedge({ clock, stopped, cutOff, lastMs: graceMs * REPEAT_AFTER_SHARE });
  const rate = createWriteRate({ clock, ceiling: options.maxWriteUnitsPerSecond });
  const budget = createWriteBudget(rate, clock);
  const estimate = createCostEstimate();
  const send = createBatchSender({
    ...{ partition, retry, budget, estimate, hedge, stopped, cutOff },
    onDeleted: (deleted, writeUnits) => run.add({ deleted, writeUnits }),
    onThrottled: run.throttled,
  });
  return { partition, retry, hedge, rate, budget, estimate, send, batchesInFlight };
}

/** True if the last pass found nothing: the partition was seen empty. */
async function deleteInPasses(
  run: DeletionRun,
  tools: Tools,
  continued: boolean,
): Promise<boolean> {
  // A page that is not consistent may show what was deleted a moment ago, and it would be counted twice. In its first pass
  // a run meets every key once; but what an earlier run had in hand, and all that an earlier pass deleted, is in doubt.
  let consistentPages = continued ? PAGES_IN_DOUBT : 1;
  while (!run.stopped.aborted) {
    const pool = createKeyPool(tools.batchesInFlight * MAX_BATCH);
    run.stopped.addEventListener('abort', pool.close);
    const sending = Array.from({ length: tools.batchesInFlight }, () =>
      sendBatches(run, pool, tools),
    );
    // A pass ends with all its keys acknowledged: only then does the next one see none of them again.
    const [found] = await Promise.all([readAll(run, pool, tools, consistentPages), ...sending]);
    run.stopped.removeEventListener('abort', pool.close);
    if (found === 0) return true;
    consistentPages = Infinity;
  }
  return false;
}

const readAll = (
  run: DeletionRun,
  pool: KeyPool,
  tools: Tools,
  consistentPages: number,
): Promise<number | undefined> =>
  readPages({
    ...tools,
    run,
    pool,
    consistentPages,
    // A limit of the table, of an index or of the account is the same from all sides.
    shouldDivide: () =>
      tools.rate.isLimited && (run.throttle === undefined || run.throttle.by === 'keyRange'),
    onDivided: () => tools.rate.lookForMore(),
  });

async function sendBatches(run: DeletionRun, pool: KeyPool, tools: Tools): Promise<void> {
  const { budget, estimate, send } = tools;
  const limits = () => ({
    units: budget.mostUnits() / estimate.factor,
    largestItem: LARGEST_ITEM_UNITS,
  });
  for (;;) {
    const batch = await pool.take(limits);
    if (batch === undefined) return;
    const { rest, known, failure } = await send(batch);
    if (!known) run.loseCount();
    if (failure !== undefined) run.fail(failure);
    pool.settle(batch, rest);
  }
}

async function reportProgress(
  run: DeletionRun,
  { clock, onProgress }: DeletePartitionOptions,
): Promise<void> {
  if (!onProgress) return;
  try {
    while (!run.stopped.aborted) {
      await clock.sleep(PROGRESS_MS, run.ended);
      if (!(await onProgress(run.progress))) run.stop();
    }
  } catch (error) {
    // The sleep ends that way when all is done; the caller's own last report then tells what a failed one did not.
    if (!run.ended.aborted) run.fail(error);
  }
}
