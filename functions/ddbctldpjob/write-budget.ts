import type { Clock } from '../../runtime/clock.ts';
import { PARTITION_UNITS_PER_SECOND, type WriteRate } from './write-rate.ts';

/** Lets requests go at the rate that the table takes. */
export interface WriteBudget {
  /** The most that one request may cost: it should not eat up a second of the table. */
  mostUnits(): number;
  /** Waits for the turn of a request that will cost about so much; one that costs nothing more need not wait. */
  admit(units: number, signal: AbortSignal): Promise<Admission>;
  /** To be told what became of it: of every admission once. */
  settle(admission: Admission, outcome: WriteOutcome): void;
}

export interface Admission {
  readonly units: number;
  readonly sentAt: number;
}

export interface WriteOutcome {
  readonly units: number;
  /** Of the keys sent, the share that was taken. Undefined if nobody knows. */
  readonly share?: number;
  readonly accountLimit?: boolean | undefined;
}

/** A request that takes only part of a second leaves less over where it does not fit. */
const REQUEST_SECONDS = 0.5;
const SMALL_UNITS = 25;
/** Unused time that may be caught up on, so that a late timer costs no throughput. */
const CREDIT_SECONDS = 0.05;
/** The rate changes while a request waits. */
const LOOK_AGAIN_MS = 50;

/** A token bucket in write units, filled at a rate that moves. */
export function createWriteBudget(rate: WriteRate, clock: Clock): WriteBudget {
  let tokens = 0;
  let filledAt = clock.now();
  let lastTurn: Promise<unknown> = Promise.resolve();

  function fill(room: number): void {
    const now = clock.now();
    const perSecond = rate.perSecond();
    const filled = tokens + (perSecond * (now - filledAt)) / 1_000;
    tokens = Math.min(filled, Math.max(room, perSecond * CREDIT_SECONDS));
    filledAt = now;
  }

  async function waitForTokens(units: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const perSecond = rate.perSecond();
      const pause = rate.pausedUntil - clock.now();
      if (pause > 0) await clock.sleep(pause, signal);
      else if (perSecond === Infinity) return;
      else {
        fill(units);
        if (tokens >= units) break;
        const missing = ((units - tokens) * 1_000) / perSecond;
        await clock.sleep(Math.min(Math.max(missing, 1), LOOK_AGAIN_MS), signal);
      }
    }
    tokens -= units;
  }

  return {
    mostUnits() {
      const second = Math.min(rate.perSecond(), PARTITION_UNITS_PER_SECOND);
      return Math.max(Math.min(second, SMALL_UNITS), second * REQUEST_SECONDS);
    },

    async admit(units, signal) {
      if (units === 0) return { units, sentAt: clock.now() };
      // First come, first served: a large request must not wait for ever while small ones pass it.
      const turn = lastTurn.then(() => waitForTokens(units, signal));
      lastTurn = turn.catch(() => {});
      await turn;
      return { units, sentAt: clock.now() };
    },

    settle({ units, sentAt }, outcome) {
      const { share, accountLimit } = outcome;
      if (share === undefined) return;
      // What was refused is not given back: there was no room for it, and there is none for another request instead.
      if (rate.perSecond() !== Infinity) tokens += units * share - outcome.units;
      rate.replied({ sentAt, units: outcome.units, share, accountLimit });
    },
  };
}
