import type { ItemPlan } from './items.ts';

/** How much is measured. */
export interface Sizes {
  readonly uncapped: Amount;
  readonly uncappedFar: Amount;
  readonly capped: Amount;
  readonly moving: Amount;
  readonly mixed: Amount;
  readonly ranges: Amount;
  readonly calls: Amount;
  readonly faults: Amount;
  readonly deadlines: Amount;
  readonly memory: { readonly small: Amount; readonly large: Amount };
  readonly startUpRuns: number;
}

export interface Amount {
  readonly items: ItemPlan;
  /** Of podless. */
  readonly rounds: number;
  /** Of its peers. */
  readonly peerRounds: number;
}

const small = (count: number): ItemPlan => ({ count, bytes: 200 });
/** 400 KB is as large as an item can be; the mean is 48 KB. */
const mixed = (count: number): ItemPlan => ({ count, bytes: { from: 100, to: 400 * 1024 } });

/** Ten to twelve minutes. */
export const quickSizes: Sizes = {
  uncapped: { items: small(20_000), rounds: 3, peerRounds: 2 },
  uncappedFar: { items: small(4_000), rounds: 3, peerRounds: 1 },
  capped: { items: small(15_000), rounds: 3, peerRounds: 1 },
  moving: { items: small(28_000), rounds: 2, peerRounds: 1 },
  mixed: { items: mixed(300), rounds: 3, peerRounds: 1 },
  ranges: { items: { count: 20_000, bytes: 1_000 }, rounds: 1, peerRounds: 0 },
  calls: { items: { count: 5_000, bytes: 1_000 }, rounds: 1, peerRounds: 1 },
  faults: { items: small(20_000), rounds: 3, peerRounds: 0 },
  deadlines: { items: small(60_000), rounds: 1, peerRounds: 0 },
  memory: {
    small: { items: small(10_000), rounds: 3, peerRounds: 0 },
    large: { items: small(100_000), rounds: 1, peerRounds: 0 },
  },
  startUpRuns: 20,
};

/** The same, with a million items where it is the number that matters: about half an hour. */
export const fullSizes: Sizes = {
  ...quickSizes,
  deadlines: { items: small(1_000_000), rounds: 1, peerRounds: 0 },
  memory: {
    ...quickSizes.memory,
    large: { items: small(1_000_000), rounds: 1, peerRounds: 0 },
  },
};
