import { controllerReference, type Owner } from '../children/child.ts';
import type { KubeObject } from '../kube/objects.ts';
import { ANNOTATION_OWNER, LABEL_OPERATOR, ownerText } from '../labels.ts';
import { isHook, type ManifestBody, type ReleaseObject } from './manifest.ts';
import type { ReleaseRef } from './release.ts';

/** The object as ours: the label by which it is watched, and who it belongs to. */
export function marked(object: ReleaseObject, { object: owner, operator }: Owner): ReleaseObject {
  const { metadata } = object.body;
  const near = object.ref.namespace !== '' && object.ref.namespace === owner.metadata.namespace;
  // With a reference, the garbage collector would take away what the chart says to keep.
  const referred = near && metadata.annotations?.['helm.sh/resource-policy'] !== 'keep';
  return withMetadata(object, {
    ...metadata,
    // Changes of a hook are no news: Helm itself waits for it.
    ...(!isHook(object) && { labels: { ...metadata.labels, [LABEL_OPERATOR]: operator } }),
    ...(referred
      ? { ownerReferences: [controllerReference(owner)] }
      : {
          annotations: { ...metadata.annotations, [ANNOTATION_OWNER]: ownerText(owner.metadata) },
        }),
  });
}

/** What Helm adds to every object that it installs. */
export function asInstalled(object: ReleaseObject, { name, namespace }: ReleaseRef): ReleaseObject {
  const { metadata } = object.body;
  return withMetadata(object, {
    ...metadata,
    labels: { ...metadata.labels, 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      ...metadata.annotations,
      [RELEASE_NAME]: name,
      [RELEASE_NAMESPACE]: namespace,
    },
  });
}

const RELEASE_NAME = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

export function isPartOf({ name, namespace }: ReleaseRef, { metadata }: KubeObject): boolean {
  const { annotations = {} } = metadata;
  return annotations[RELEASE_NAME] === name && annotations[RELEASE_NAMESPACE] === namespace;
}

/** Under which Helm applies: whoever repairs must own the same fields. */
export const HELM_FIELD_MANAGER = 'helm';

/** Also if somebody has taken the annotations away: Helm's name is still on fields of it. */
export function isStillPartOf(release: ReleaseRef, live: KubeObject): boolean {
  const { annotations = {}, managedFields = [] } = live.metadata;
  if (annotations[RELEASE_NAME] !== undefined) return isPartOf(release, live);
  return managedFields.some(
    ({ manager, operation }) => manager === HELM_FIELD_MANAGER && operation === 'Apply',
  );
}

const withMetadata = (
  { ref, body }: ReleaseObject,
  metadata: ManifestBody['metadata'],
): ReleaseObject => ({ ref, body: { ...body, metadata } });
