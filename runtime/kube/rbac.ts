import type { Operator, RbacRule } from '../operator.ts';

/** The Kubernetes group a function acts in: bound to its ClusterRole here, and to its IAM role by an access entry. */
export const groupOf = (functionName: string): string => `podless:${functionName}`;

export interface FunctionRights {
  readonly name: string;
  readonly rules: readonly RbacRule[];
}

/** What each function may do in the cluster, no more: all of it follows from the operators' declarations. */
export function rightsOf(operators: readonly Operator[]): readonly FunctionRights[] {
  return [
    { name: 'watcher', rules: operators.flatMap(watcherRules) },
    { name: 'resync', rules: operators.map(({ kind }) => rule(kind.group, kind.plural, 'list')) },
    ...operators.map((operator) => ({ name: operator.name, rules: reconcilerRules(operator) })),
  ];
}

const watcherRules = ({ kind, owns }: Operator): readonly RbacRule[] =>
  [kind, ...owns].map(({ group, plural }) => rule(group, plural, 'list', 'watch'));

function reconcilerRules({ kind, finalizer, owns, rbac }: Operator): readonly RbacRule[] {
  const { group, plural } = kind;
  return [
    // Finalizers live in the object itself; without one the reconciler never writes to it.
    rule(group, plural, 'get', ...(finalizer === undefined ? [] : ['patch'])),
    rule(group, `${plural}/status`, 'patch'),
    rule('events.k8s.io', 'events', 'create'),
    // Setting blockOwnerDeletion on a child asks for this where OwnerReferencesPermissionEnforcement is on.
    ...(owns.length > 0 ? [rule(group, `${plural}/finalizers`, 'update')] : []),
    ...owns.map((owned) => rule(owned.group, owned.plural, ...owned.verbs)),
    ...rbac,
  ];
}

const rule = (group: string, resource: string, ...verbs: readonly string[]): RbacRule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** A ClusterRole and a binding to the function's group, for each function. */
export const rbacManifests = (operators: readonly Operator[]): readonly object[] =>
  rightsOf(operators).flatMap(({ name, rules }) => {
    const metadata = { name: groupOf(name), labels: { 'app.kubernetes.io/part-of': 'podless' } };
    const apiGroup = 'rbac.authorization.k8s.io';
    return [
      { apiVersion: `${apiGroup}/v1`, kind: 'ClusterRole', metadata, rules },
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup, kind: 'ClusterRole', name: groupOf(name) },
        subjects: [{ apiGroup, kind: 'Group', name: groupOf(name) }],
      },
    ];
  });
