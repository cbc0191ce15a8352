import type { Clock } from '../../runtime/clock.ts';
import { createVainCuts } from './vain-cuts.ts';

/** The rate at which a table takes our writes, found by trying: additive increase, multiplicative decrease. */
export interface WriteRate {
  /** Units per second to send at now; Infinity as long as no limit was met. */
  perSecond(): number;
  /** Nothing should be sent before this moment, in milliseconds since the epoch. */
  readonly pausedUntil: number;
  /** A limit was met, other than the ceiling. */
  readonly isLimited: boolean;
  /** There is reason to believe that the limit is higher now. */
  lookForMore(): void;
  /** To be told of every reply. */
  replied(reply: WriteReply): void;
}

export interface WriteReply {
  /** When its request was sent, in milliseconds since the epoch. */
  readonly sentAt: number;
  readonly units: number;
  /** Of the keys sent, the share that was taken: 1 if nothing was refused. */
  readonly share: number;
  /** The limit is that of the whole account, which others need too. Default false. */
  readonly accountLimit?: boolean | undefined;
}

export interface WriteRateOptions {
  readonly clock: Clock;
  /** Units per second never to be exceeded. Default: none. */
  readonly ceiling?: number | undefined;
}

/** What one physical partition can do, provisioned or on demand: the best guess at a limit first met. */
export const PARTITION_UNITS_PER_SECOND = 1_000;
const FLOOR = 1;
/**
 * After a refusal the rate starts a little below the limit and rises to a little above it. What is left unused is not
 * lost, tables save it up; and each time round costs one refusal or two.
 */
const START = 0.96;
const RISE_PER_MS = 0.025 / 1_000;
/** Nothing refused by then: the limit has moved, and a new one is looked for, e times higher each second. */
const SEARCH_AFTER_MS = 3_000;
const SEARCH_AGAIN_AFTER_MS = 500;
const SEARCH_PER_MS = 1 / 1_000;
const MOVED = 0.1;
/** Between two refusals a table took all it can. Over less time than this that says little. */
const MEASURE_MS = 500;
/** What a cut has changed shows in so many replies. */
const EPOCH_REPLIES = 4;
const DEEPEST_CUT = 0.3;
/** After requests that were refused for the most part: lets those under way come home, and the table breathe. */
const HARD_PAUSE_MS = 100;
/** When a limit is first met. Short: what the table saves up meanwhile makes the first share look better than it is. */
const FIRST_PAUSE_MS = 50;
const ACCOUNT_PAUSE_MS = 5_000;
/** Refusals among the last replies: up to so many are the usual touch of the limit, from so many on a limit is met. */
const RECENT = 8;
const TOUCHED = 2;
const MET = 4;

export function createWriteRate({ clock, ceiling = Infinity }: WriteRateOptions): WriteRate {
  const vainCuts = createVainCuts(clock);
  let limit: number | undefined;
  let searchAfter = SEARCH_AFTER_MS;
  /** The last refusal that counted: since then the table's reserve, if it has one, was empty once. */
  let cutAt = clock.now();
  let takenSince = 0;
  /** Of what was sent after it. */
  let epoch = { replies: 0, shares: 0, clean: 0 };
  let pausedUntil = 0;
  let recent: boolean[] = [];

  const recentRefusals = (): number => recent.filter(Boolean).length;
  const epochSoFar = () => ({
    rate: perSecond(),
    replies: epoch.replies,
    share: epoch.shares / epoch.replies,
  });

  function perSecond(): number {
    if (limit === undefined) return ceiling;
    const age = clock.now() - cutAt;
    const rising = START + Math.min(age, searchAfter) * RISE_PER_MS;
    const searching = Math.exp(Math.max(0, age - searchAfter) * SEARCH_PER_MS);
    return Math.min(ceiling, limit * rising * searching);
  }

  const takenPerSecond = (): number => (takenSince * 1_000) / Math.max(clock.now() - cutAt, 1);

  function limitAfter(share: number, before: number): number {
    const taken = takenPerSecond();
    const rate = perSecond();
    if (recentRefusals() <= TOUCHED) return Math.min(Math.max(before, taken), rate);
    if (clock.now() - cutAt >= MEASURE_MS) return Math.min(taken, rate);
    return rate * Math.max(share, DEEPEST_CUT);
  }

  function setLimit(next: number | undefined, pauseMs: number): void {
    const now = clock.now();
    limit = next;
    // The pause of an account's limit is the longer one.
    pausedUntil = Math.max(pausedUntil, now + pauseMs);
    cutAt = now;
    takenSince = 0;
    epoch = { replies: 0, shares: 0, clean: 0 };
  }

  function meetLimit(): void {
    const taken = takenPerSecond();
    const { share } = epochSoFar();
    vainCuts.forget();
    // Refused from the first request on: nothing that the table had saved up is in this share.
    if (epoch.clean === 0 && share > 0) vainCuts.add({ ...epochSoFar(), rate: taken / share });
    searchAfter = SEARCH_AFTER_MS;
    const guess = Math.min(PARTITION_UNITS_PER_SECOND, taken / 2, ceiling);
    setLimit(Math.max(guess, FLOOR), FIRST_PAUSE_MS);
  }

  function cut(before: number): void {
    const ended = epochSoFar();
    const found = Math.max(limitAfter(ended.share, before), FLOOR);
    const moved = Math.abs(found - before) > before * MOVED;
    searchAfter = moved ? SEARCH_AGAIN_AFTER_MS : SEARCH_AFTER_MS;
    // The share of one that was clean at first is not what the table takes of its rate.
    if (epoch.clean >= RECENT) vainCuts.forget();
    else vainCuts.add(ended);
    setLimit(vainCuts.found ? undefined : found, ended.share < DEEPEST_CUT ? HARD_PAUSE_MS : 0);
  }

  function refused(share: number): void {
    if (vainCuts.found) {
      if (vainCuts.isRefutedBy(epochSoFar())) meetLimit();
    } else if (limit === undefined) {
      if (epoch.replies >= RECENT && recentRefusals() >= MET) meetLimit();
    } else {
      // A single request refused whole, among others taken whole, is bad luck: at a limit some of it fits.
      const isBadLuck = share === 0 && recentRefusals() === 1;
      const isEnough = epoch.replies >= EPOCH_REPLIES || clock.now() - cutAt >= MEASURE_MS;
      if (!isBadLuck && isEnough) cut(limit);
    }
  }

  return {
    perSecond,
    get pausedUntil() {
      return pausedUntil;
    },
    get isLimited() {
      return limit !== undefined;
    },
    lookForMore() {
      searchAfter = Math.min(searchAfter, clock.now() - cutAt);
    },
    replied({ sentAt, units, share, accountLimit = false }) {
      // Before the first request nothing could be taken.
      if (recent.length === 0) cutAt = sentAt - 1;
      takenSince += units;
      recent = [...recent.slice(1 - RECENT), share < 1];
      if (accountLimit) pausedUntil = clock.now() + ACCOUNT_PAUSE_MS;
      // What was sent before the last cut says nothing about the rate after it.
      if (sentAt <= cutAt) return;
      epoch.replies += 1;
      epoch.shares += share;
      epoch.clean += share === 1 ? 1 : 0;
      if (share < 1) refused(share);
    },
  };
}
