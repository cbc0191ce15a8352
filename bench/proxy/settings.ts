import type { ItemPlan } from '../items.ts';
import type { Timetable } from './timetable.ts';

/** How the proxy treats one run. */
export interface RunSettings {
  readonly items: ItemPlan;
  /** Added to every call. */
  readonly latencyMs: number;
  /** Default: none. */
  readonly cap?: Cap;
  /** Default: none. */
  readonly faults?: Faults;
}

export interface Cap {
  readonly timetable: Timetable;
  /** What the bucket holds at most, and at first. */
  readonly burstUnits: number;
  /** Physical partitions: equal ranges of sort keys, each with a bucket of its own. Default 1. */
  readonly partitions?: number;
}

/** Shares between 0 and 1. Every other call that fails is carried out all the same: its reply is what gets lost. */
export interface Faults {
  /** Of the deletes in a batch: answered as UnprocessedItems. */
  readonly unprocessed: number;
  /** Of the calls, as all below. */
  readonly serverError: number;
  /** The connection is destroyed. */
  readonly reset: number;
  /** Never answered. */
  readonly hang: number;
}

export type CallFault = Exclude<keyof Faults, 'unprocessed'>;

/** What the proxy saw of one run. */
export interface RunCounts {
  readonly calls: Readonly<Record<string, number>>;
  readonly writes: {
    readonly requests: number;
    /** Requests of which nothing was carried out because of the cap or `Faults.unprocessed`. */
    readonly refused: number;
    readonly partlyRefused: number;
    readonly peakInFlight: number;
  };
  readonly units: {
    readonly deleted: number;
    /** Of all that one request named, carried out or not. */
    readonly largestRequest: number;
    /** Deleted, without what the buckets are in debt for at the end; of what the cap allowed from the first to the last delete. */
    readonly share: number;
  };
  readonly secondsFromFirstToLastDelete: number;
  /** Units deleted in each quarter of a second since the first write. */
  readonly timeline: readonly number[];
  readonly faults: Readonly<Record<CallFault, number>>;
}

export const TIMELINE_SECONDS = 0.25;
