import { isPaused, requestedReconcile } from '../annotations.ts';
import { fieldOf, isRecord, textOf } from '../untrusted.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export type ForwardReason =
  | 'New'
  | 'SpecChanged'
  | 'Deleting'
  | 'Deleted'
  | 'ReconcileRequested'
  | 'PauseChanged';

/**
 * Why a change needs a reconcile, or `undefined` if it needs none. Decided by the object alone, so it does not matter
 * which watcher saw which change before. Our own status writes make generation and observedGeneration equal, which is
 * what keeps a reconcile from waking itself.
 */
export function decideForwarding(type: ChangeType, object: unknown): ForwardReason | undefined {
  if (type === 'DELETED') return 'Deleted';
  const metadata = fieldOf(object, 'metadata');
  const status = fieldOf(object, 'status');
  const observedGeneration = fieldOf(status, 'observedGeneration');
  if (fieldOf(metadata, 'generation') !== observedGeneration) {
    return observedGeneration === undefined ? 'New' : 'SpecChanged';
  }
  if (fieldOf(metadata, 'deletionTimestamp') !== undefined) return 'Deleting';

  const annotations = annotationsOf(metadata);
  const requestedAt = requestedReconcile({ annotations });
  if (requestedAt !== undefined && requestedAt !== fieldOf(status, 'lastHandledReconcileAt')) {
    return 'ReconcileRequested';
  }
  return isPaused({ annotations }) === showsPaused(status) ? undefined : 'PauseChanged';
}

function annotationsOf(metadata: unknown): Record<string, string> {
  const annotations = fieldOf(metadata, 'annotations');
  if (!isRecord(annotations)) return {};
  const texts = Object.entries(annotations).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

function showsPaused(status: unknown): boolean {
  const conditions = fieldOf(status, 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((one) => textOf(one, 'type') === 'Paused' && textOf(one, 'status') === 'True')
  );
}
