import { isKubeStatus } from '../kube/client.ts';
import type { KubeObject, ObjectRef } from '../kube/objects.ts';
import type { FieldChange, PlannedChange, ReconcileContext } from '../reconcile.ts';
import { type ChildManifest, describeRef } from './child.ts';
import { changesBetween, differences } from './differences.ts';

/** What applying it would do, asked of the API server itself, which stores nothing. */
export async function planApply(
  { ref, body }: ChildManifest,
  live: KubeObject | undefined,
  { kube, fieldManager, signal }: Pick<ReconcileContext, 'kube' | 'fieldManager' | 'signal'>,
): Promise<PlannedChange> {
  const subject = describeRef(ref);
  const asked = kube.apply(ref, body, { fieldManager, dryRun: true, signal });
  if (!live) {
    await asked;
    return { action: 'create', subject, detail: 'does not exist yet' };
  }
  const after = await asked.catch((error: unknown) => {
    if (!isKubeStatus(error, 422)) throw error;
  });
  const changes = after
    ? changesBetween(comparable(live), comparable(after))
    : // Refused as it is, for what others have put beside it: see applyChild.
      differences(body, live);
  const fields = ref.kind.kind === 'Secret' ? changes.map(concealed) : changes;
  if (fields.length === 0) return { action: 'none', subject, detail: 'is as it should be' };
  const detail = fields.map(({ path }) => path).join(', ');
  return { action: 'change', subject, detail, fields };
}

export const planDelete = (ref: ObjectRef): PlannedChange => ({
  action: 'delete',
  subject: describeRef(ref),
  detail: 'is not wanted any more',
});

/** Without what the API server and controllers write. */
function comparable({ metadata, status: _status, ...content }: KubeObject): object {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  return {
    ...content,
    metadata: { name, namespace, labels, annotations, finalizers, ownerReferences },
  };
}

const HIDDEN = '(hidden)';

const concealed = (field: FieldChange): FieldChange =>
  /^(data|stringData)\b/.test(field.path)
    ? {
        path: field.path,
        ...(field.from !== undefined && { from: HIDDEN }),
        ...(field.to !== undefined && { to: HIDDEN }),
      }
    : field;
