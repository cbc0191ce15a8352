import { isKubeStatus } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { ReconcileContext } from '../reconcile.ts';
import type { ChildManifest } from './child.ts';
import { ConflictError, describeOwner } from './conflict.ts';

/** Bound to the object that was read: one of the same name that came in between is not ours. */
export async function applyChild(
  manifest: ChildManifest,
  live: KubeObject | undefined,
  context: ReconcileContext,
): Promise<KubeObject> {
  if (!live) return createChild(manifest, context);
  const { ref, body } = manifest;
  const { kube, fieldManager, signal } = context;
  const { uid, resourceVersion } = live.metadata;
  const apply = () =>
    kube.apply(ref, { ...body, metadata: { ...body.metadata, uid } }, { fieldManager, signal });
  try {
    return await apply();
  } catch (error) {
    if (!isKubeStatus(error, 422)) throw error;
    // An edit can leave items that cannot stand beside ours: a Service port of another number keeps its name. A merge patch
    // puts our lists in their place; where the reason is another (a field that nobody may change), it fails the same way.
    await kube.mergePatch(ref, { ...body, metadata: { uid, resourceVersion } }, { signal });
    return apply();
  }
}

/** An apply cannot be told to create only. One that met an object which was made meanwhile is taken back. */
async function createChild(
  { ref, body }: ChildManifest,
  { kube, fieldManager, signal }: ReconcileContext,
): Promise<KubeObject> {
  const applied = await kube.apply(ref, body, { fieldManager, force: false, signal });
  const { name, namespace, uid, managedFields = [] } = applied.metadata;
  if (managedFields.every(({ manager }) => manager === fieldManager)) return applied;
  const metadata = { name, namespace, uid };
  const theirs = await kube.apply(ref, { metadata }, { fieldManager, signal });
  throw new ConflictError(ref, describeOwner(theirs));
}
