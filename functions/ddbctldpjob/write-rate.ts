import type { Clock } from '../../runtime/clock.ts';
import { type Cut, isInVain } from './vain-cuts.ts';

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
/** Below this share a request did not just scrape the limit. */
const HARD_SHARE = 0.7;
const SOFT_CUT = 0.95;
const DEEPEST_CUT = 0.3;
/** After a request that was refused for the most part: lets those under way come home, and the table breathe. */
const HARD_PAUSE_MS = 100;
const ACCOUNT_PAUSE_MS = 5_000;
/** Refusals among the last replies: up to so many are the usual touch of the limit, from so many on a limit is met. */
const RECENT = 8;
const TOUCHED = 2;
const MET = 4;
/** How long refusals are ignored that lower rates have not ended. */
const IGNORE_MS = 10_000;

export function createWriteRate({ clock, ceiling = Infinity }: WriteRateOptions): WriteRate {
  let limit: number | undefined;
  let searchAfter = SEARCH_AFTER_MS;
  /** The last refusal that counted: since then the table's reserve, if it has one, was empty once. */
  let cutAt = clock.now();
  let takenSince = 0;
  let cleanSince = 0;
  let pausedUntil = 0;
  let ignoreUntil = 0;
  let recent: boolean[] = [];
  let cuts: Cut[] = [];

  const recentRefusals = (): number => recent.filter(Boolean).length;

  function perSecond(): number {
    if (limit === undefined) return ceiling;
    const age = clock.now() - cutAt;
    const rising = START + Math.min(age, searchAfter) * RISE_PER_MS;
    const searching = Math.exp(Math.max(0, age - searchAfter) * SEARCH_PER_MS);
    return Math.min(ceiling, limit * rising * searching);
  }

  function limitAfter(share: number): number {
    const age = clock.now() - cutAt;
    const taken = (takenSince * 1_000) / Math.max(age, 1);
    const rate = perSecond();
    if (limit === undefined) return Math.min(PARTITION_UNITS_PER_SECOND, taken / 2, ceiling);
    if (recentRefusals() <= TOUCHED) return Math.min(Math.max(limit, taken), rate);
    if (age >= MEASURE_MS) return Math.min(taken, rate);
    return rate * (share < HARD_SHARE ? Math.max(share, DEEPEST_CUT) : SOFT_CUT);
  }

  function cut(share: number): void {
    const now = clock.now();
    if (limit === undefined || share < DEEPEST_CUT) pausedUntil = now + HARD_PAUSE_MS;
    cuts = [...(cleanSince < RECENT ? cuts : []), { rate: perSecond(), share }];
    const found = Math.max(limitAfter(share), FLOOR);
    const moved = limit !== undefined && Math.abs(found - limit) > limit * MOVED;
    searchAfter = moved ? SEARCH_AGAIN_AFTER_MS : SEARCH_AFTER_MS;
    limit = found;
    if (isInVain(cuts)) {
      limit = undefined;
      ignoreUntil = now + IGNORE_MS;
      cuts = [];
    }
    cutAt = now;
    takenSince = 0;
    cleanSince = 0;
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
      takenSince += units;
      cleanSince += share === 1 ? 1 : 0;
      recent = [...recent.slice(1 - RECENT), share < 1];
      if (accountLimit) pausedUntil = clock.now() + ACCOUNT_PAUSE_MS;
      // What was sent before the last cut says nothing about the rate after it.
      if (share === 1 || sentAt <= cutAt || clock.now() < ignoreUntil) return;
      // A single request refused whole, among others taken whole, is bad luck: at a limit some of it fits.
      const isBadLuck = share === 0 && recentRefusals() === 1;
      if (limit === undefined ? recentRefusals() >= MET : !isBadLuck) cut(share);
    },
  };
}
