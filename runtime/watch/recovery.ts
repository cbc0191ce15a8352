import { KubeApiError } from '../kube/client.ts';
import { createBackoff } from './backoff.ts';
import type { WatchSettings } from './settings.ts';
import { type BreakCause, breakCauseOf } from './watch-break.ts';

/** What to do after a break. */
export interface Remedy {
  readonly cause: BreakCause;
  /** The position is of no use any more. */
  readonly relist: boolean;
  readonly pauseMilliseconds: number;
}

/** Decides how a watch goes on after each end of its stream. */
export interface Recovery {
  /** The stream delivered something: the next wait is a short one. */
  delivered(): void;
  /** @returns how long to wait after a stream that ended well */
  ended(lifeMilliseconds: number): number;
  broken(error: unknown, position: string | undefined): Remedy;
}

/**
 * Causes that lie in what comes after a position: going on from there again may never help. Silence is none of them: a
 * kind in which nothing happens is silent for long (see position.ts).
 */
const stickyCauses: ReadonlySet<BreakCause> = new Set<BreakCause>([
  'refused',
  'truncated',
  'malformed',
  'error_event',
  'bug',
]);
const MAX_BREAKS_AT_ONE_POSITION = 3;

/** A user who just applied the CRD waits for us. */
const MAX_MISSING_PAUSE_MILLISECONDS = 10_000;
/** A server that asks for more patience than this is asked again anyway. */
const MAX_RETRY_AFTER_SECONDS = 120;

export function createRecovery(settings: WatchSettings): Recovery {
  const backoff = createBackoff(settings);
  let breaksSinceDelivery = 0;
  let stuckAt: string | undefined;
  let breaksThere = 0;

  const isStuck = (cause: BreakCause, position: string | undefined): boolean => {
    if (!stickyCauses.has(cause)) return false;
    breaksThere = position === stuckAt ? breaksThere + 1 : 1;
    stuckAt = position;
    return breaksThere >= MAX_BREAKS_AT_ONE_POSITION;
  };
  return {
    delivered() {
      breaksSinceDelivery = 0;
      backoff.reset();
    },
    ended(lifeMilliseconds) {
      breaksThere = 0;
      return lifeMilliseconds < settings.shortLifeMilliseconds ? backoff.next() : 0;
    },
    broken(error, position) {
      const cause = breakCauseOf(error);
      breaksSinceDelivery += 1;
      // The first 410 costs no time; more in a row, with nothing between, must not become a loop of lists. Silence has
      // cost its time already, and in a kind where nothing happens the first change may come at any moment.
      const atOnce = cause === 'silent' || (cause === 'gone' && breaksSinceDelivery === 1);
      const relist = cause === 'gone' || cause === 'missing' || isStuck(cause, position);
      if (relist) breaksThere = 0;
      return { cause, relist, pauseMilliseconds: atOnce ? 0 : pauseAfter(error, backoff.next()) };
    },
  };
}

function pauseAfter(error: unknown, milliseconds: number): number {
  if (!(error instanceof KubeApiError)) return milliseconds;
  if (error.status === 404) return Math.min(milliseconds, MAX_MISSING_PAUSE_MILLISECONDS);
  const asked = Math.min(error.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS);
  return Math.max(milliseconds, asked * 1000);
}
