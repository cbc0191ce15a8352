import type { PlannedChange, Requeue } from '../../runtime/reconcile.ts';

/** A worker, by its Job or its node, and what is wrong with it. */
export interface Trouble {
  readonly who: string;
  readonly why: string;
}

/** How far the workers of a Goop are, whichever way they run. */
export interface Progress {
  readonly workers: number;
  /** Of them are there, or were until they were done. */
  readonly deployed: number;
  readonly done: number;
  /** Done, by number, where they have numbers. */
  readonly completedIndexes?: string;
  /** Will not be done unless somebody helps. */
  readonly failed: readonly Trouble[];
  readonly late: readonly Trouble[];
  /** Why not all of this is known yet. */
  readonly unknown?: string;
  readonly plan: readonly PlannedChange[];
  readonly requeue?: Requeue;
}
