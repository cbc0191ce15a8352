/** Plain data: `infra` and the local run start the function by it. */
export const resyncSettings = { timeoutSeconds: 900, memoryMegabytes: 256 } as const;
