import { applyChild } from '../children/apply.ts';
import { describeRef, digestOf } from '../children/child.ts';
import { ConflictError, describeOwner } from '../children/conflict.ts';
import { differences } from '../children/differences.ts';
import { concurrently } from '../concurrently.ts';
import { TransientError } from '../errors.ts';
import { isKubeStatus } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { FieldChange, ReconcileContext } from '../reconcile.ts';
import { isRecord } from '../untrusted.ts';
import { CALLS_AT_ONCE, type LiveObject } from './live-objects.ts';
import type { ManifestBody } from './manifest.ts';
import { HELM_FIELD_MANAGER, isStillPartOf } from './marks.ts';
import type { ReleaseRef } from './release.ts';

export interface Repaired extends LiveObject {
  readonly changed: boolean;
}

/** Puts back what differs from the manifest. Fields that the manifest does not set are left alone. */
export type RepairDrift = (
  found: readonly LiveObject[],
  release: ReleaseRef,
  context: ReconcileContext,
) => Promise<readonly Repaired[]>;

/** Differences that are none: applied, the API server stored what it had before. So many objects are remembered. */
const MAX_REMEMBERED = 2_000;

export function createRepairDrift(): RepairDrift {
  const vain = new Map<string, string>();
  const remember = (uid: string, digest: string): void => {
    if (vain.size >= MAX_REMEMBERED) vain.clear();
    vain.set(uid, digest);
  };
  return (found, release, context) => {
    for (const { object, live } of found) {
      if (live && !isStillPartOf(release, live))
        throw new ConflictError(object.ref, describeOwner(live));
    }
    return concurrently(found, CALLS_AT_ONCE, async ({ object, live }) => {
      const changes = live ? driftOf(object.body, live) : [];
      if (live && (changes.length === 0 || vain.get(live.metadata.uid) === digestOf(changes)))
        return { object, live, changed: false };
      // It is made again once it is gone.
      if (live?.metadata.deletionTimestamp !== undefined) return { object, live, changed: false };
      const applied = await applyObject({ object, live }, context);
      const changed = applied.metadata.resourceVersion !== live?.metadata.resourceVersion;
      if (!changed) remember(applied.metadata.uid, digestOf(changes));
      else logRepair(describeRef(object.ref), live !== undefined, changes, context);
      return { object, live: applied, changed };
    });
  };
}

/** The fields in which an object is not as its manifest has it. */
export const driftOf = (body: ManifestBody, live: KubeObject): readonly FieldChange[] =>
  differences(comparable(body), live);

/** The API server stores the texts of a Secret in base64, under `data`. */
function comparable(body: ManifestBody): object {
  const { stringData, ...rest } = body;
  if (body.kind !== 'Secret' || !isRecord(stringData)) return body;
  const data = isRecord(body['data']) ? body['data'] : {};
  const encoded = Object.entries(stringData).map(([key, text]): [string, string] => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } };
}

async function applyObject(
  { object, live }: LiveObject,
  context: ReconcileContext,
): Promise<KubeObject> {
  const { ref } = object;
  try {
    return await applyChild(object, live, { ...context, fieldManager: HELM_FIELD_MANAGER });
  } catch (error) {
    if (!isKubeStatus(error, 403) && !isKubeStatus(error, 422)) throw error;
    // The server's message may quote the object.
    const message = `${describeRef(ref)} cannot be put back: the API server refuses it (${error.reason})`;
    throw new TransientError('RepairFailed', message, { cause: error });
  }
}

function logRepair(
  child: string,
  existed: boolean,
  changes: readonly FieldChange[],
  { log }: ReconcileContext,
): void {
  const fields = changes.map(({ path }) => path).slice(0, 20);
  log.info('drift repaired', { child, action: existed ? 'change' : 'create', fields });
}
