import {
  ownedChartKinds,
  releaseRecordRule,
  usualChartKinds,
} from '../../runtime/helm/chart-kinds.ts';
import type { Operator } from '../../runtime/operator.ts';

const name = 'collector';

/** Installs a chart from S3 into the namespace of a tenant. */
export const collector: Operator = {
  name,
  kind: { group: 'example.com', version: 'v1alpha', kind: 'Collector', plural: 'collectors' },
  finalizer: 'podless.dev/uninstall-release',
  owns: ownedChartKinds(name, usualChartKinds),
  resyncSeconds: 300,
  timeoutSeconds: 300,
  memoryMegabytes: 1024,
  maxConcurrency: 5,
  maxReceives: 5,
  rbac: [
    releaseRecordRule,
    // Of a tenant: made if missing.
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create'] },
  ],
  // Without ListBucket S3 calls a chart that is not there forbidden.
  iam: [{ actions: ['s3:GetObject', 's3:ListBucket'], on: 'chartBuckets' }],
  tools: ['helm'],
};
