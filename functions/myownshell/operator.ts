import { childrenOf } from '../../runtime/labels.ts';
import type { Operator, OwnedKind } from '../../runtime/operator.ts';

const name = 'myownshell';
// An apply that makes an object asks for create as well.
const child = { labelSelector: childrenOf(name), verbs: ['get', 'create', 'patch'] } as const;

export const deploymentKind: OwnedKind = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  ...child,
};

export const configMapKind: OwnedKind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  ...child,
};

/** Keeps a Deployment of shells, and a ConfigMap that tells how many. */
export const myownshell: Operator = {
  name,
  kind: {
    group: 'my-first-operator.jgato.io',
    version: 'v1alpha1',
    kind: 'MyOwnShell',
    plural: 'myownshells',
  },
  finalizer: 'myownshell.my-first-operator.jgato.io/finalizer',
  owns: [deploymentKind, configMapKind],
  resyncSeconds: 600,
  timeoutSeconds: 60,
  memoryMegabytes: 256,
  maxConcurrency: 10,
  maxReceives: 5,
  rbac: [],
  iam: [],
};
