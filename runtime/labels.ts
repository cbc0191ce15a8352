import type { ObjectMeta } from './kube/objects.ts';
import type { Operator } from './operator.ts';

/** On every child: which operator made it. The watcher selects by it, so its load follows our objects. */
export const LABEL_OPERATOR = 'podless.dev/operator';

/**
 * On a child: `<namespace>/<name>` of its owner. Tells whose it is where there is no ownerReference: its owner is in another
 * namespace, or somebody has removed it.
 */
export const ANNOTATION_OWNER = 'podless.dev/owner';

/** On a child: digest of what was applied, so that a field which is no longer applied is noticed. */
export const ANNOTATION_APPLIED = 'podless.dev/applied-digest';

/** Selects the children of one operator. */
export const childrenOf = (operator: Operator['name']): string => `${LABEL_OPERATOR}=${operator}`;

/** As ANNOTATION_OWNER holds it. */
export const ownerText = ({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;
