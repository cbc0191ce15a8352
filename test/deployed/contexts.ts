/** `-c` values that tests deploy with; few, as each has to be synthesized. */

const oneKind = { tables: 'orders-*', operators: 'ddbctldpjob' } as const;

/** The main job alone, in one cluster. */
export const oneCluster = { clusters: 'prod', ...oneKind } as const;

/** The same in two. */
export const twoClusters = { clusters: 'blue,green', ...oneKind } as const;

/** Every operator there is, with the fewest values a person must give. */
export const allOperators = { clusters: 'prod', tables: 'orders-*' } as const;
