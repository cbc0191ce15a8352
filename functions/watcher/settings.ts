/** Plain data: `infra` and the local run start shifts by it. */
export const watcherSettings = {
  timeoutSeconds: 660,
  /** A shift starts this often ... */
  periodSeconds: 600,
  /** ... and watches this much longer, so that the next one has begun before it ends. */
  overlapSeconds: 20,
  memoryMegabytes: 256,
} as const;
