/** A lowering of the rate: what it was before, and the share of the request that was taken then. */
export interface Cut {
  readonly rate: number;
  readonly share: number;
}

/** The last cuts that are looked at. */
export const CUTS_SEEN = 6;
const LOWERED = 4;
const SAME_SHARE = 0.15;

/**
 * True if these cuts, one right after the other, made no difference: at a quarter of the rate as much is refused as
 * before. Then the refusals have another cause than our rate, and going still slower would only take longer.
 */
export function isInVain(cuts: readonly Cut[]): boolean {
  const seen = cuts.slice(-CUTS_SEEN);
  const [first] = seen;
  const last = seen.at(-1);
  if (!first || !last || seen.length < CUTS_SEEN || last.rate > first.rate / LOWERED) return false;
  // Single requests differ by chance: some are refused as a whole.
  const before = meanShare(seen.slice(0, CUTS_SEEN / 2));
  const after = meanShare(seen.slice(CUTS_SEEN / 2));
  return after > SAME_SHARE && after < before + SAME_SHARE;
}

const meanShare = (cuts: readonly Cut[]): number =>
  cuts.reduce((sum, { share }) => sum + share, 0) / cuts.length;
