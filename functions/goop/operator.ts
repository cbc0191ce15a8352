import { childrenOf } from '../../runtime/labels.ts';
import type { Operator, OwnedKind } from '../../runtime/operator.ts';

const name = 'goop';
const labelSelector = childrenOf(name);

export const jobKind: OwnedKind = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  labelSelector,
  // An apply that makes an object asks for create as well.
  verbs: ['get', 'list', 'create', 'patch', 'delete'],
};

export const daemonSetKind: OwnedKind = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  labelSelector,
  verbs: ['get', 'create', 'patch', 'delete'],
};

/** Runs a number of worker Jobs, or one worker on each node, and tells when all are done. */
export const goop: Operator = {
  name,
  kind: { group: 'goop.example.com', version: 'v1alpha1', kind: 'Goop', plural: 'goops' },
  finalizer: 'goop.example.com/finalizer',
  owns: [jobKind, daemonSetKind],
  resyncSeconds: 600,
  timeoutSeconds: 120,
  memoryMegabytes: 256,
  maxConcurrency: 10,
  maxReceives: 5,
  // A DaemonSet does not tell on which node a worker fails, or why: its pods do.
  rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
  iam: [],
};
