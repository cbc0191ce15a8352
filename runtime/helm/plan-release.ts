import { describeRef } from '../children/child.ts';
import { planApply, planDelete } from '../children/plan.ts';
import { concurrently } from '../concurrently.ts';
import { TransientError } from '../errors.ts';
import { isKubeStatus } from '../kube/client.ts';
import type { PlannedChange, ReconcileContext } from '../reconcile.ts';
import { CALLS_AT_ONCE, type LiveObject } from './live-objects.ts';
import { isHook, keyOf, type ReleaseObject } from './manifest.ts';
import { HELM_FIELD_MANAGER } from './marks.ts';

/** What applying these would do, object by object; and which of `before` would go. Nothing is written. */
export async function planRelease(
  wanted: readonly LiveObject[],
  before: readonly ReleaseObject[],
  context: ReconcileContext,
): Promise<readonly PlannedChange[]> {
  const changes = await concurrently(wanted, CALLS_AT_ONCE, (found) => planObject(found, context));
  const kept = new Set(wanted.map(({ object }) => keyOf(object.ref)));
  const gone = before.filter(({ ref }) => !kept.has(keyOf(ref)));
  return [...changes, ...gone.map(({ ref }) => planDelete(ref))];
}

async function planObject(
  { object, live }: LiveObject,
  context: ReconcileContext,
): Promise<PlannedChange> {
  const { ref, body } = object;
  const subject = describeRef(ref);
  const creation = { action: 'create', subject, detail: 'does not exist yet' } as const;
  if (isHook(object)) {
    const hook = String(body.metadata.annotations?.['helm.sh/hook']);
    return { action: 'create', subject, detail: `runs as hook ${hook}` };
  }
  try {
    const asHelm = { ...context, fieldManager: HELM_FIELD_MANAGER };
    return await planApply({ ref, body }, live, asHelm);
  } catch (error) {
    // Its namespace does not exist yet.
    if (!live && isKubeStatus(error, 404)) return creation;
    if (!isKubeStatus(error, 403) && !isKubeStatus(error, 422)) throw error;
    const message = `${subject} would be refused by the API server (${error.reason})`;
    throw new TransientError('ReleaseFailed', message, { cause: error });
  }
}
