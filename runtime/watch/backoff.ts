export interface BackoffOptions {
  readonly random: () => number;
  readonly minimumMilliseconds: number;
  readonly maximumMilliseconds: number;
}

export interface Backoff {
  /** How long to wait now; about twice as long the next time. */
  next(): number;
  reset(): void;
}

/** Half of each wait is fixed and half random: never a hot loop, and many watchers do not come back at once. */
export function createBackoff(options: BackoffOptions): Backoff {
  const { random, minimumMilliseconds, maximumMilliseconds } = options;
  const first = Math.min(2 * minimumMilliseconds, maximumMilliseconds);
  let ceiling = first;
  return {
    next() {
      const wait = ceiling * (0.5 + random() / 2);
      ceiling = Math.min(2 * ceiling, maximumMilliseconds);
      return wait;
    },
    reset() {
      ceiling = first;
    },
  };
}
