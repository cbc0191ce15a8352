/** A lowering of the rate: what it was before, and the share of the request that was taken then. */
export interface Cut {
  readonly rate: number;
  readonly share: number;
}

const MIN_CUTS = 5;
const LOWERED = 4;
const SAME_SHARE = 0.15;

/**
 * True if these cuts, one right after the other, made no difference: at a quarter of the rate as much is refused as
 * before. Then the refusals have another cause than our rate, and going still slower would only take longer.
 */
export function isInVain(cuts: readonly Cut[]): boolean {
  const [first] = cuts;
  const last = cuts.at(-1);
  if (!first || !last || cuts.length < MIN_CUTS || last.rate > first.rate / LOWERED) return false;
  return last.share > SAME_SHARE && last.share < first.share + SAME_SHARE;
}
