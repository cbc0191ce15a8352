import { OperatorError } from '../../runtime/errors.ts';
import { callToTheLast, type LastCallOptions } from './last-calls.ts';
import type { Retry } from './retry.ts';
import { type ItemKey, type Partition, TableFault } from './table.ts';
import type { WriteBudget } from './write-budget.ts';

export interface BatchSenderOptions extends LastCallOptions {
  readonly partition: Partition;
  readonly retry: Retry;
  readonly budget: WriteBudget;
  /** Called with each reply: how many keys are now certainly gone. */
  readonly onDeleted: (count: number, writeUnits: number) => void;
}

export interface SentBatch {
  /** Certainly not deleted, unless `known` is false. */
  readonly rest: readonly ItemKey[];
  /** False if some of the rest may be deleted without having been counted. */
  readonly known: boolean;
  readonly failure?: unknown;
}

export type SendBatch = (keys: readonly ItemKey[]) => Promise<SentBatch>;

interface Batch {
  keys: readonly ItemKey[];
  known: boolean;
}

/**
 * A sender of one batch at a time, which returns when the fate of the batch is known. A key is counted when DynamoDB
 * acknowledges it, never before: so a batch whose reply was lost goes out again (a second delete does nothing) and
 * counts once. Such a batch stays in here, also with what is left unprocessed of it, until all of it is acknowledged:
 * nobody else could tell whether the lost call had deleted a key. That is what the grace period is for.
 */
export function createBatchSender(options: BatchSenderOptions): SendBatch {
  const { partition, retry, budget, stopped, cutOff, onDeleted } = options;
  let overloads = 0;

  const patience = (batch: Batch): AbortSignal => (batch.known ? stopped : cutOff);

  async function attempt(batch: Batch): Promise<void> {
    const { keys } = batch;
    const admitted = await budget.admit(keys.length, patience(batch));
    patience(batch).throwIfAborted();
    try {
      const send = (signal: AbortSignal) => partition.deleteKeys(keys, signal);
      const { unprocessed, writeUnits } = await callToTheLast(send, options, () => {
        // The other call may yet delete what this one's answer calls unprocessed.
        batch.known = false;
      });
      const deleted = keys.length - unprocessed.length;
      batch.keys = unprocessed;
      overloads = deleted < unprocessed.length ? overloads + 1 : 0;
      budget.settle(admitted, { deleted, writeUnits });
      onDeleted(deleted, writeUnits);
    } catch (error) {
      if (mayHaveApplied(error)) batch.known = false;
      else budget.settle(admitted, { deleted: 0, writeUnits: 0 });
      throw error;
    }
  }

  return async (keys) => {
    const batch: Batch = { keys, known: true };
    try {
      do {
        await retry.call(
          () => attempt(batch),
          () => patience(batch),
        );
        // A few keys left over ask for a breath only, most of a batch left over for a pause that grows.
        if (batch.keys.length > 0) await retry.pause(overloads - 2, patience(batch));
      } while (batch.keys.length > 0 && !batch.known);
      return { rest: batch.keys, known: true };
    } catch (failure) {
      const outcome = { rest: batch.keys, known: batch.known };
      return stopped.aborted ? outcome : { ...outcome, failure };
    }
  };
}

const mayHaveApplied = (error: unknown): boolean =>
  error instanceof TableFault ? error.mayHaveApplied : !(error instanceof OperatorError);
