import type { Clock } from '../../runtime/clock.ts';

/** Tells refusals that our rate causes from those that come at any rate. */
export interface VainCuts {
  /** Lower rates have not ended the refusals, and there is no limit for a while. */
  readonly found: boolean;
  /** A cut follows on this. */
  add(epoch: Epoch): void;
  /** The next cut has nothing to do with those before. */
  forget(): void;
  /** True if this, without a limit, shows that the rate was the cause after all. */
  isRefutedBy(epoch: Epoch): boolean;
}

/** What came back at one rate, between two cuts. */
export interface Epoch {
  readonly rate: number;
  readonly replies: number;
  /** Of what was sent, the share that was taken; on average. */
  readonly share: number;
}

const IGNORE_MS = 10_000;
const MOST_EPOCHS = 16;
/** So many whole requests must lie between what a limit would refuse and what chance would. */
const EVIDENCE = 1;
/** A mistake shows in so many replies. */
const TRIAL_REPLIES = 8;
/** Of the share that was taken before: by chance alone it is hardly ever as low. */
const MUCH_LESS = 0.6;

export function createVainCuts(clock: Clock): VainCuts {
  let epochs: Epoch[] = [];
  let ignoredUntil = 0;
  let ignoredShare = 0;

  return {
    get found() {
      return clock.now() < ignoredUntil;
    },
    add(epoch) {
      const isMuchLess = ({ share }: Epoch) => epoch.replies > 1 && epoch.share < share * MUCH_LESS;
      // Those before lived on what the table had saved up, or on a limit that was higher.
      const alike = epochs.filter((before) => !isMuchLess(before));
      epochs = [...alike.slice(1 - MOST_EPOCHS), epoch];
      if (!epochs.some((_, index) => areInVain(epochs.slice(index)))) return;
      ignoredUntil = clock.now() + IGNORE_MS;
      ignoredShare = epoch.share;
      epochs = [];
    },
    forget() {
      epochs = [];
    },
    isRefutedBy({ replies, share }) {
      const isRefuted = replies >= TRIAL_REPLIES && share < ignoredShare * MUCH_LESS;
      if (isRefuted) ignoredUntil = 0;
      return isRefuted;
    },
  };
}

/**
 * True if these cuts, one right after the other, made no difference. Where the rate is the cause, a table takes as much
 * of a lower rate as of a higher one, and so a larger share. Where the share stays, going slower only takes longer.
 */
function areInVain([first, ...later]: readonly Epoch[]): boolean {
  if (!first) return false;
  const refused = (shareOf: (epoch: Epoch) => number): number =>
    later.reduce((sum, epoch) => sum + epoch.replies * (1 - shareOf(epoch)), 0);
  const byLimit = refused(({ rate }) => Math.min(1, (first.share * first.rate) / rate));
  const byChance = refused(() => first.share);
  const seen = refused(({ share }) => share);
  const between = byChance - byLimit;
  return between >= EVIDENCE && seen > byLimit + between / 2;
}
