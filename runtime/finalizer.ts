import type { KubeClient } from './kube/client.ts';
import type { KubeObject, ObjectRef } from './kube/objects.ts';

export function addFinalizer(
  ref: ObjectRef,
  object: KubeObject,
  { kube, finalizer }: { readonly kube: KubeClient; readonly finalizer: string },
): Promise<KubeObject> {
  return setFinalizers(ref, object, {
    kube,
    finalizers: [...(object.metadata.finalizers ?? []), finalizer],
  });
}

/** Lets an object go, as far as we are concerned. */
export function removeFinalizer(
  ref: ObjectRef,
  object: KubeObject,
  { kube, finalizer }: { readonly kube: KubeClient; readonly finalizer: string | undefined },
): Promise<KubeObject> {
  const rest = object.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
  return setFinalizers(ref, object, { kube, finalizers: rest });
}

/** Checked against the resourceVersion, since a patch of the list would undo what another controller did to it. */
const setFinalizers = (
  ref: ObjectRef,
  { metadata: { uid, resourceVersion } }: KubeObject,
  { kube, finalizers }: { readonly kube: KubeClient; readonly finalizers: readonly string[] },
): Promise<KubeObject> => kube.mergePatch(ref, { metadata: { uid, resourceVersion, finalizers } });
