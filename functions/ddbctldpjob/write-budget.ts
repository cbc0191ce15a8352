import type { Clock } from '../../runtime/clock.ts';
import { MAX_BATCH } from './table.ts';

/** Keeps the writes of one run below a rate. */
export interface WriteBudget {
  /** Keys in the next batch: no request should cost more than one second of the budget. */
  batchSize(): number;
  /** Tells the size of the items to come, as the read of their page paid for it. */
  expect(keys: number, readUnits: number): void;
  /** Waits for the turn of a batch of this many keys and answers with the units set aside for it. */
  admit(keys: number, signal: AbortSignal): Promise<number>;
  /** Corrects what was set aside by what the batch really cost. */
  settle(admittedUnits: number, actual: BatchCost): void;
}

export interface BatchCost {
  readonly deleted: number;
  readonly writeUnits: number;
}

export const unlimitedWrites: WriteBudget = {
  batchSize: () => MAX_BATCH,
  expect: () => {},
  admit: () => Promise.resolve(0),
  settle: () => {},
};

/** Unused time that may be caught up on, so that a late timer costs no throughput. */
const CREDIT_MS = 250;
/** A consistent read of 4 KB costs one unit, a write of 1 KB too. */
const WRITE_UNITS_PER_READ_UNIT = 4;
/** Weight of the newest reply in the estimate of a key's cost. */
const NEWEST = 0.3;

/**
 * A token bucket, kept as the moment at which it is full enough again: every batch moves that moment on by its cost.
 * Cost is estimated, first by the size of the items and then by the batches before, and corrected by each reply.
 */
export function createWriteBudget(unitsPerSecond: number, clock: Clock): WriteBudget {
  const millisecondsPerUnit = 1000 / unitsPerSecond;
  let unitsPerKey = 1;
  let isMeasured = false;
  let freeAt = clock.now();

  return {
    batchSize: () => Math.max(1, Math.min(MAX_BATCH, Math.floor(unitsPerSecond / unitsPerKey))),

    expect(keys, readUnits) {
      // Replies know better: they include the indexes.
      if (isMeasured || keys === 0) return;
      unitsPerKey = Math.max(1, (readUnits * WRITE_UNITS_PER_READ_UNIT) / keys);
    },

    async admit(keys, signal) {
      const units = keys * unitsPerKey;
      const turn = Math.max(clock.now() - CREDIT_MS, freeAt);
      freeAt = turn + units * millisecondsPerUnit;
      const wait = turn - clock.now();
      if (wait > 0) await clock.sleep(wait, signal);
      return units;
    },

    settle(admittedUnits, { deleted, writeUnits }) {
      freeAt += (writeUnits - admittedUnits) * millisecondsPerUnit;
      if (deleted === 0) return;
      isMeasured = true;
      unitsPerKey += NEWEST * (writeUnits / deleted - unitsPerKey);
    },
  };
}
