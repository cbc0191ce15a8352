import { OperatorError } from '../../runtime/errors.ts';
import type { CostEstimate } from './cost-estimate.ts';
import type { Hedge } from './hedge.ts';
import type { KeyBatch } from './key-pool.ts';
import type { Retry } from './retry.ts';
import { type ItemKey, type Partition, TableFault, type Throttle } from './table.ts';
import type { WriteBudget } from './write-budget.ts';

export interface BatchSenderOptions {
  readonly partition: Partition;
  readonly retry: Retry;
  readonly budget: WriteBudget;
  readonly estimate: CostEstimate;
  readonly hedge: Hedge;
  /** Aborts when nothing new may begin. */
  readonly stopped: AbortSignal;
  /** Aborts when the grace period after that is over. */
  readonly cutOff: AbortSignal;
  /** Called with each reply: how many keys are now certainly gone. */
  readonly onDeleted: (count: number, writeUnits: number) => void;
  readonly onThrottled: (throttle: Throttle | undefined) => void;
}

export interface SentBatch {
  /** Certainly not deleted, unless `known` is false. */
  readonly rest: readonly ItemKey[];
  /** False if some of the rest may be deleted without having been counted. */
  readonly known: boolean;
  readonly failure?: unknown;
}

export type SendBatch = (batch: KeyBatch) => Promise<SentBatch>;

interface Sending {
  keys: readonly ItemKey[];
  known: boolean;
  readonly unitsPerKey: number;
}

/**
 * Sends a batch and returns when its fate is known. A key is counted when DynamoDB acknowledges it, never before: so a
 * batch whose reply was lost goes out again (a second delete does nothing) and counts once. Such a batch stays in here,
 * also with what is left unprocessed of it, until all of it is acknowledged: nobody else could tell whether the lost call
 * had deleted a key. That is what the grace period is for.
 */
export function createBatchSender(options: BatchSenderOptions): SendBatch {
  const { retry, stopped, cutOff } = options;
  const patience = ({ known }: Sending): AbortSignal => (known ? stopped : cutOff);
  return async ({ keys, units }) => {
    const sending: Sending = { keys, known: true, unitsPerKey: units / keys.length };
    try {
      do {
        await retry.call(
          () => attempt(sending, patience(sending), options),
          () => patience(sending),
        );
      } while (sending.keys.length > 0 && !sending.known);
      return { rest: sending.keys, known: true };
    } catch (failure) {
      const outcome = { rest: sending.keys, known: sending.known };
      return stopped.aborted ? outcome : { ...outcome, failure };
    }
  };
}

async function attempt(
  sending: Sending,
  patience: AbortSignal,
  { partition, budget, estimate, hedge, onDeleted, onThrottled }: BatchSenderOptions,
): Promise<void> {
  const { keys, unitsPerKey } = sending;
  // One whose fate is in doubt has had its turn: near the end of a run there is no time to wait for another.
  const units = sending.known ? keys.length * unitsPerKey * estimate.factor : 0;
  const admission = await budget.admit(units, patience);
  try {
    const { unprocessed, writeUnits } = await hedge(
      (signal) => partition.deleteKeys(keys, signal),
      () => {
        // The other call may yet delete what this one's answer calls unprocessed.
        sending.known = false;
      },
    );
    const deleted = keys.length - unprocessed.length;
    sending.keys = unprocessed;
    budget.settle(admission, { units: writeUnits, share: deleted / keys.length });
    estimate.learn(deleted * unitsPerKey, writeUnits);
    onDeleted(deleted, writeUnits);
  } catch (error) {
    if (mayHaveApplied(error)) {
      sending.known = false;
      budget.settle(admission, { units: admission.units });
    } else {
      const throttle = error instanceof TableFault ? error.throttle : undefined;
      const refused = error instanceof TableFault && error.kind === 'throttled';
      const accountLimit = throttle?.by === 'account';
      budget.settle(admission, { units: 0, ...(refused && { share: 0, accountLimit }) });
      if (refused) onThrottled(throttle);
    }
    throw error;
  }
}

const mayHaveApplied = (error: unknown): boolean =>
  error instanceof TableFault ? error.mayHaveApplied : !(error instanceof OperatorError);
