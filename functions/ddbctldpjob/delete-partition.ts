import type { Clock } from '../../runtime/clock.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { createBatchSender, type SendBatch } from './batch-sender.ts';
import { createDeletionRun, type DeletionRun } from './deletion-run.ts';
import { createKeyPool, type KeyPool } from './key-pool.ts';
import { createRetry, type Retry } from './retry.ts';
import { type ItemKey, MAX_BATCH, type Partition } from './table.ts';
import { createWriteBudget, unlimitedWrites, type WriteBudget } from './write-budget.ts';

export interface DeletePartitionOptions {
  readonly clock: Clock;
  /** Asks to stop: no new batch is begun, those under way may end within the grace period. */
  readonly signal: AbortSignal;
  /** Default 5,000. */
  readonly graceMs?: number;
  /** Default 8. */
  readonly batchesInFlight?: number;
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
  const finished = await deleteInPasses(run, createTools(partition, run, options));
  run.end();
  // A report under way must not overtake what the caller does with the result.
  await reporting;
  signal.removeEventListener('abort', run.stop);

  const { progress, exact, failure } = run;
  if (failure === undefined) return { ...progress, exact, finished };
  if (failure instanceof OperatorError) return { ...progress, exact, finished, failure };
  throw failure;
}

/** Made once a run, so that what was learnt of the table's load survives a pass. */
interface Tools {
  readonly partition: Partition;
  readonly retry: Retry;
  readonly budget: WriteBudget;
  readonly senders: readonly SendBatch[];
}

function createTools(
  partition: Partition,
  run: DeletionRun,
  options: DeletePartitionOptions,
): Tools {
  const { clock, random, batchesInFlight = BATCHES_IN_FLIGHT, maxWriteUnitsPerSecond } = options;
  const repeatAfterMs = (options.graceMs ?? GRACE_MS) * REPEAT_AFTER_SHARE;
  const retry = createRetry({ clock, random });
  const budget =
    maxWriteUnitsPerSecond === undefined
      ? unlimitedWrites
      : createWriteBudget(maxWriteUnitsPerSecond, clock);
  const { stopped, cutOff } = run;
  const onDeleted = (deleted: number, writeUnits: number) => run.add({ deleted, writeUnits });
  const senders = Array.from({ length: batchesInFlight }, () =>
    createBatchSender({
      partition,
      retry,
      budget,
      clock,
      stopped,
      cutOff,
      repeatAfterMs,
      onDeleted,
    }),
  );
  return { partition, retry, budget, senders };
}

/** True if the last pass found nothing: the partition was seen empty. */
async function deleteInPasses(run: DeletionRun, tools: Tools): Promise<boolean> {
  while (!run.stopped.aborted) {
    const pool = createKeyPool(tools.senders.length * MAX_BATCH);
    run.stopped.addEventListener('abort', pool.close);
    const sending = tools.senders.map((send) => sendBatches(run, { pool, send, ...tools }));
    // A pass ends with all its keys acknowledged: only then does the next one see none of them again.
    const [found] = await Promise.all([readPages(run, pool, tools), ...sending]);
    run.stopped.removeEventListener('abort', pool.close);
    if (found === 0) return true;
  }
  return false;
}

/** Fills the pool with all keys of the partition; answers how many, or `undefined` if it did not come to the end. */
async function readPages(
  run: DeletionRun,
  pool: KeyPool,
  { partition, retry, budget }: Tools,
): Promise<number | undefined> {
  const signal = run.stopped;
  let found = 0;
  let after: ItemKey | undefined;
  try {
    do {
      await pool.room();
      const page = await retry.call(
        () => partition.page({ after, signal }),
        () => signal,
      );
      run.add({ readUnits: page.readUnits });
      budget.expect(page.keys.length, page.readUnits);
      pool.addPage(page.keys);
      found += page.keys.length;
      after = page.next;
    } while (after !== undefined);
  } catch (error) {
    if (!signal.aborted) run.fail(error);
    return undefined;
  }
  pool.endOfPages();
  return found;
}

interface Lane extends Tools {
  readonly pool: KeyPool;
  readonly send: SendBatch;
}

async function sendBatches(run: DeletionRun, { pool, send, budget }: Lane): Promise<void> {
  for (;;) {
    const keys = await pool.take(budget.batchSize);
    if (keys.length === 0) return;
    const { rest, known, failure } = await send(keys);
    if (!known) run.loseCount();
    if (failure !== undefined) run.fail(failure);
    pool.settle(keys, rest);
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
