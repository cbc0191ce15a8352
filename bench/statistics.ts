/** The middle and the ends of several runs. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new Error('expected at least one sample, got none');
  return {
    median: percentile(samples, 0.5),
    min: percentile(samples, 0),
    max: percentile(samples, 1),
  };
}

/** @param share between 0 and 1; between two samples, what lies between them */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below === above ? below : below + (above - below) * (position % 1);
}
