import type { KubeObject } from '../kube/objects.ts';
import { childrenOf } from '../labels.ts';
import type { Kind } from '../operator.ts';
import type { ReconcileContext } from '../reconcile.ts';
import { listPages } from '../watch/list-pages.ts';
import { asObject, type Owner } from './child.ts';
import { isChildOf } from './sync.ts';

const PAGE_SIZE = 500;

/** The children of one kind that an object has, by label and controller reference. */
export async function readChildren(
  kind: Kind,
  { object, operator }: Owner,
  context: ReconcileContext,
): Promise<readonly KubeObject[]> {
  const { kube, signal } = context;
  const { namespace } = object.metadata;
  const options = { namespace, labelSelector: childrenOf(operator), limit: PAGE_SIZE, signal };
  const children: KubeObject[] = [];
  for await (const { items } of listPages(kube, kind, options)) {
    children.push(...items.map((item) => asObject(kind, item as KubeObject)));
  }
  return children.filter((child) => isChildOf(object, child, context));
}
