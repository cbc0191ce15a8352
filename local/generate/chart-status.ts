const readyCondition = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;

/** What the status of every kind that is backed by a chart looks like. */
export const chartStatus = {
  columns: [
    { name: 'Ready', type: 'string', jsonPath: readyCondition('status') },
    { name: 'Reason', type: 'string', jsonPath: readyCondition('reason') },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Message', type: 'string', jsonPath: readyCondition('message'), priority: 1 },
  ],
  schema: {
    type: 'object',
    properties: {
      observedGeneration: {
        description: 'The generation of the spec that this status speaks of.',
        type: 'integer',
        format: 'int64',
      },
      lastHandledReconcileAt: {
        description:
          'The last value of the annotation podless.dev/reconcile-requested-at that was acted on.',
        type: 'string',
      },
      deployedRelease: {
        description: 'The release that is deployed.',
        type: 'object',
        properties: {
          name: { type: 'string' },
          manifest: { description: 'Digest of what was applied.', type: 'string' },
          revision: { type: 'integer' },
        },
      },
      failedAttempts: {
        description:
          'Values and chart that do not work, so that they are not tried again and again.',
        type: 'object',
        properties: {
          digest: { type: 'string' },
          count: { type: 'integer' },
          lastTime: { type: 'string', format: 'date-time' },
          message: { type: 'string' },
        },
      },
      conditions: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
        items: {
          type: 'object',
          required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
          properties: {
            type: { type: 'string' },
            status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
            reason: { type: 'string' },
            message: { type: 'string' },
            lastTransitionTime: { type: 'string', format: 'date-time' },
            observedGeneration: { type: 'integer', format: 'int64' },
          },
        },
      },
    },
  },
} as const;
