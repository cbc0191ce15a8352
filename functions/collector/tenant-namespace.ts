import { explainRefusal } from '../../runtime/children/refusal.ts';
import { TransientError } from '../../runtime/errors.ts';
import { isKubeStatus } from '../../runtime/kube/client.ts';
import type { KubeObject, ObjectRef } from '../../runtime/kube/objects.ts';
import { LABEL_OPERATOR } from '../../runtime/labels.ts';
import type { Kind } from '../../runtime/operator.ts';
import type { PlannedChange, ReconcileContext } from '../../runtime/reconcile.ts';
import { collector } from './operator.ts';

const namespaceKind: Kind = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces' };

/** Free text, as it stands in the spec. */
const ANNOTATION_TENANT = 'podless.dev/tenant-id';
/** The same, where it can be a label. */
const LABEL_TENANT = 'podless.dev/tenant';
const LABEL_VALUE = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;

export interface Tenant {
  readonly namespace: string;
  readonly id: string | undefined;
}

/**
 * Makes the tenant's namespace if there is none. One that exists is left as it is, whoever made it, and none is ever deleted: others
 * may live in it.
 *
 * @returns what was done; in a dry run, what would be
 */
export async function ensureNamespace(
  tenant: Tenant,
  { kube, dryRun, signal, announce, log }: ReconcileContext,
): Promise<readonly PlannedChange[]> {
  const { namespace: name } = tenant;
  const ref: ObjectRef = { kind: namespaceKind, namespace: '', name };
  const found = await kube.get(ref, signal);
  if (found) return leftAsItIs(found);
  const change: PlannedChange = {
    action: 'create',
    subject: `Namespace ${name}`,
    detail: 'does not exist yet',
  };
  if (dryRun) return [change];
  try {
    await kube.create(namespaceKind, '', { metadata: metadataOf(tenant) }, { signal });
  } catch (error) {
    // Somebody else was faster, perhaps another collector of the same tenant.
    if (isKubeStatus(error, 409)) return leftAsItIs(await kube.get(ref, signal));
    return explainRefusal(ref)(error);
  }
  log.info('namespace created', { namespace: name });
  await announce({ reason: 'NamespaceCreated', message: `namespace ${name} was created` });
  return [change];
}

function leftAsItIs(found: KubeObject | undefined): readonly [] {
  if (found && found.metadata.deletionTimestamp === undefined) return [];
  const name = found?.metadata.name ?? 'of the tenant';
  throw new TransientError(
    'NamespaceTerminating',
    `namespace ${name} is being deleted; the release is installed once it is gone and made anew`,
  );
}

function metadataOf({ namespace: name, id }: Tenant): object {
  const isLabel = id !== undefined && LABEL_VALUE.test(id);
  return {
    name,
    labels: { [LABEL_OPERATOR]: collector.name, ...(isLabel && { [LABEL_TENANT]: id }) },
    ...(id !== undefined && { annotations: { [ANNOTATION_TENANT]: id } }),
  };
}
