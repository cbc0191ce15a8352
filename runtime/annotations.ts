import type { ObjectMeta } from './kube/objects.ts';

/** Present and not 'false': the object is left alone until the annotation goes. */
export const ANNOTATION_PAUSED = 'podless.dev/paused';

/** A value not seen before asks for a reconcile now; it is echoed in `status.lastHandledReconcileAt`. */
export const ANNOTATION_RECONCILE_REQUESTED_AT = 'podless.dev/reconcile-requested-at';

export function isPaused(metadata: Pick<ObjectMeta, 'annotations'>): boolean {
  const value = metadata.annotations?.[ANNOTATION_PAUSED];
  return value !== undefined && value !== 'false';
}

export const requestedReconcile = ({
  annotations,
}: Pick<ObjectMeta, 'annotations'>): string | undefined =>
  annotations?.[ANNOTATION_RECONCILE_REQUESTED_AT];
