import { concurrently } from '../concurrently.ts';
import { KubeApiError } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { ANNOTATION_OWNER, ownerText } from '../labels.ts';
import type { PlannedChange, ReconcileContext } from '../reconcile.ts';
import { applyChild } from './apply.ts';
import { type ChildManifest, controllerOf, describeRef } from './child.ts';
import { ConflictError, describeOwner } from './conflict.ts';
import { differences } from './differences.ts';
import { planApply, planDelete } from './plan.ts';
import { explainRefusal } from './refusal.ts';

/** Enough to make 200 children quickly, few enough to leave the API server to others. */
const CALLS_AT_ONCE = 10;

export interface SyncedChild {
  readonly manifest: ChildManifest;
  /** After the sync; in a dry run as it is now. Undefined: it does not exist yet, in a dry run. */
  readonly live: KubeObject | undefined;
  /** The one of this name is on its way out, deleted or of an earlier owner; the new one is made once it is gone. */
  readonly leaving: boolean;
  readonly plan: PlannedChange;
}

/**
 * Makes each child exist as it should: what is missing is created, what differs in a field of ours is applied, what is right
 * is not written. Throws a ConflictError before anything is written if one of the names is taken.
 *
 * @param known children that were read already, by a list; the others are read one by one
 */
export async function syncChildren(
  owner: KubeObject,
  manifests: readonly ChildManifest[],
  context: ReconcileContext,
  known: readonly KubeObject[] = [],
): Promise<readonly SyncedChild[]> {
  const found = new Map(known.map((child) => [keyOf(child.kind, child), child]));
  const read = await concurrently(manifests, CALLS_AT_ONCE, async (manifest) => {
    const { ref } = manifest;
    const listed = found.get(`${ref.kind.kind}/${ref.namespace}/${ref.name}`);
    return { manifest, live: listed ?? (await context.kube.get(ref, context.signal)) };
  });
  for (const { manifest, live } of read) {
    if (!live || isChildOf(owner, live, context) || isNobodysButOurs(live, context)) continue;
    if (!isOfEarlierOwner(live, owner)) throw new ConflictError(manifest.ref, describeOwner(live));
  }
  if (read.some(({ live }) => live && controllerOf(live) === undefined))
    await refuseToTakeBack(owner, context);
  return concurrently(read, CALLS_AT_ONCE, ({ manifest, live }) =>
    live && isLeaving(live, owner) ? leaving(manifest, live) : syncChild(manifest, live, context),
  );
}

/**
 * Whoever deletes an owner may ask to keep its children: the garbage collector then takes its name off them. If it was
 * deleted after we read it, we would put the name back, and they would be deleted with it.
 */
async function refuseToTakeBack(owner: KubeObject, context: ReconcileContext): Promise<void> {
  if (context.dryRun || (await context.isStillThere())) return;
  const { kind, metadata } = owner;
  const message = `${kind} ${metadata.namespace}/${metadata.name} was deleted while its children were read`;
  throw new KubeApiError(409, 'Conflict', message);
}

async function leaving(manifest: ChildManifest, live: KubeObject): Promise<SyncedChild> {
  const subject = describeRef(manifest.ref);
  const plan = { action: 'none', subject, detail: 'is being deleted, made anew then' } as const;
  return { manifest, live, leaving: true, plan };
}

async function syncChild(
  manifest: ChildManifest,
  live: KubeObject | undefined,
  context: ReconcileContext,
): Promise<SyncedChild> {
  const subject = describeRef(manifest.ref);
  if (live && differences(manifest.body, live).length === 0) {
    const plan = { action: 'none', subject, detail: 'is as it should be' } as const;
    return { manifest, live, leaving: false, plan };
  }
  if (context.dryRun) {
    const plan = await planApply(manifest, live, context).catch(explainRefusal(manifest.ref));
    return { manifest, live, leaving: false, plan };
  }
  const applied = await applyChild(manifest, live, context).catch(explainRefusal(manifest.ref));
  const action = live ? 'change' : 'create';
  context.log.info('child applied', { child: subject, action });
  return { manifest, live: applied, leaving: false, plan: { action, subject, detail: '' } };
}

/** Deletes children that are no longer wanted: only those that are ours, and only the ones that were read. */
export async function removeChildren(
  owner: KubeObject,
  children: readonly { readonly ref: ChildManifest['ref']; readonly live: KubeObject }[],
  context: ReconcileContext,
): Promise<readonly PlannedChange[]> {
  const ours = children.filter(
    ({ live }) => isChildOf(owner, live, context) && live.metadata.deletionTimestamp === undefined,
  );
  return concurrently(ours, CALLS_AT_ONCE, async ({ ref, live }) => {
    const { kube, dryRun, signal, log } = context;
    if (!dryRun) {
      const { uid } = live.metadata;
      await kube.delete(ref, { uid, propagationPolicy: 'Background', signal });
      log.info('child removed', { child: describeRef(ref) });
    }
    return planDelete(ref);
  });
}

/** By its controller; where somebody has taken that away, by the owner it names and by who applied it. */
export function isChildOf(
  owner: KubeObject,
  live: KubeObject,
  context: Pick<ReconcileContext, 'fieldManager'>,
): boolean {
  const controller = controllerOf(live);
  if (controller) return controller.uid === owner.metadata.uid;
  return ownerNamedBy(live) === ownerText(owner.metadata) && isAppliedBy(live, context);
}

/** Of the name that this owner's child has, where somebody has taken away all that tells whose it is. */
const isNobodysButOurs = (
  live: KubeObject,
  context: Pick<ReconcileContext, 'fieldManager'>,
): boolean =>
  controllerOf(live) === undefined &&
  ownerNamedBy(live) === undefined &&
  isAppliedBy(live, context);

/** Deleted, or soon to be: the garbage collector takes what an earlier object of the same name has left. */
const isLeaving = (live: KubeObject, owner: KubeObject): boolean =>
  live.metadata.deletionTimestamp !== undefined || isOfEarlierOwner(live, owner);

function isOfEarlierOwner(live: KubeObject, { apiVersion, kind, metadata }: KubeObject): boolean {
  const controller = controllerOf(live);
  return (
    controller?.apiVersion === apiVersion &&
    controller.kind === kind &&
    controller.name === metadata.name &&
    controller.uid !== metadata.uid
  );
}

const ownerNamedBy = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[ANNOTATION_OWNER];

const isAppliedBy = (
  { metadata }: KubeObject,
  { fieldManager }: Pick<ReconcileContext, 'fieldManager'>,
): boolean =>
  metadata.managedFields?.some(
    ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
  ) ?? false;

const keyOf = (kind: string, { metadata }: KubeObject): string =>
  `${kind}/${metadata.namespace}/${metadata.name}`;
