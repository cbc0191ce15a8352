import { childrenOf } from '../labels.ts';
import type { Kind, OwnedKind, RbacRule } from '../operator.ts';

/** A kind that the manifest of a chart may hold. */
export interface ChartKind extends Kind {
  readonly scope: 'Namespaced' | 'Cluster';
}

const namespaced = (group: string, version: string, kind: string, plural: string): ChartKind => ({
  group,
  version,
  kind,
  plural,
  scope: 'Namespaced',
});

/**
 * What charts usually hold, and nothing that gives rights: no Roles, no bindings, nothing cluster-scoped. A chart that needs
 * more has to be allowed to.
 */
export const usualChartKinds: readonly ChartKind[] = [
  namespaced('', 'v1', 'ConfigMap', 'configmaps'),
  namespaced('', 'v1', 'Secret', 'secrets'),
  namespaced('', 'v1', 'Service', 'services'),
  namespaced('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  namespaced('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  namespaced('apps', 'v1', 'Deployment', 'deployments'),
  namespaced('apps', 'v1', 'StatefulSet', 'statefulsets'),
  namespaced('apps', 'v1', 'DaemonSet', 'daemonsets'),
  namespaced('batch', 'v1', 'Job', 'jobs'),
  namespaced('batch', 'v1', 'CronJob', 'cronjobs'),
  namespaced('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
  namespaced('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  namespaced('networking.k8s.io', 'v1', 'Ingress', 'ingresses'),
  namespaced('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
];

/** What Helm and the repair of drift do. A server-side apply that creates is checked as a create too. */
const APPLY_VERBS = ['get', 'create', 'patch', 'delete'] as const;
/** Helm waits for the Jobs that are hooks. */
const WAIT_VERBS = ['list', 'watch'] as const;

const verbsOf = ({ group, kind }: ChartKind): readonly string[] =>
  group === 'batch' && kind === 'Job' ? [...APPLY_VERBS, ...WAIT_VERBS] : APPLY_VERBS;

/** The kinds of a chart as children that are watched. */
export const ownedChartKinds = (
  operator: string,
  kinds: readonly ChartKind[],
): readonly OwnedKind[] =>
  kinds.map((chartKind) => {
    const { scope: _scope, ...kind } = chartKind;
    return { ...kind, labelSelector: childrenOf(operator), verbs: verbsOf(chartKind) };
  });

/** Where Helm keeps its releases: one Secret for each revision. */
export const releaseRecordRule: RbacRule = {
  apiGroups: [''],
  resources: ['secrets'],
  verbs: ['get', 'list', 'create', 'update', 'delete'],
};
