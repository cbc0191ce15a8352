import type { Clock } from '../../runtime/clock.ts';
import type { DeletionProgress } from './delete-partition.ts';
import type { Throttle } from './table.ts';

/** The state of one `deletePartition`: its figures, and how it comes to an end. */
export interface DeletionRun {
  readonly progress: DeletionProgress;
  readonly exact: boolean;
  /** The first error that made it stop. */
  readonly failure: unknown;
  /** Aborts when no new work may begin. */
  readonly stopped: AbortSignal;
  /** Aborts when the grace period after that is over. */
  readonly cutOff: AbortSignal;
  /** Aborts when nothing is left to do. */
  readonly ended: AbortSignal;
  /** The last reason that DynamoDB gave for a refusal. */
  readonly throttle: Throttle | undefined;
  add(part: Partial<DeletionProgress>): void;
  /** A request was refused as a whole; for what reason, if that was said. */
  throttled(throttle: Throttle | undefined): void;
  /** Some keys may be deleted and not counted. */
  loseCount(): void;
  stop(): void;
  fail(error: unknown): void;
  end(): void;
}

/** A refusal of long ago holds nothing back. */
const THROTTLE_SHOWN_MS = 10_000;

export function createDeletionRun(clock: Clock, graceMs: number): DeletionRun {
  const stopping = new AbortController();
  const cuttingOff = new AbortController();
  const ending = new AbortController();
  let progress: DeletionProgress = { deleted: 0, writeUnits: 0, readUnits: 0 };
  let exact = true;
  let failure: unknown;
  let throttle: Throttle | undefined;
  let throttledAt = -Infinity;

  const stop = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    clock.sleep(graceMs, ending.signal).then(
      () => cuttingOff.abort(),
      () => {}, // Ended before the grace period was over.
    );
  };

  return {
    get progress() {
      const isFresh = clock.now() - throttledAt < THROTTLE_SHOWN_MS;
      return isFresh && throttle ? { ...progress, throttledBy: throttle.detail } : progress;
    },
    get throttle() {
      return throttle;
    },
    get exact() {
      return exact;
    },
    get failure() {
      return failure;
    },
    stopped: stopping.signal,
    cutOff: cuttingOff.signal,
    ended: ending.signal,
    add({ deleted = 0, writeUnits = 0, readUnits = 0 }) {
      progress = {
        deleted: progress.deleted + deleted,
        writeUnits: progress.writeUnits + writeUnits,
        readUnits: progress.readUnits + readUnits,
      };
    },
    throttled(reason) {
      throttle = reason ?? throttle;
      throttledAt = clock.now();
    },
    loseCount() {
      exact = false;
    },
    stop,
    fail(error) {
      failure ??= error;
      stop();
    },
    end: () => ending.abort(),
  };
}
