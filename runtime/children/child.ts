import { createHash } from 'node:crypto';
import type { KubeObject, ObjectRef, OwnerReference } from '../kube/objects.ts';
import { ANNOTATION_APPLIED, ANNOTATION_OWNER, LABEL_OPERATOR, ownerText } from '../labels.ts';
import { apiVersionOf, type Kind } from '../operator.ts';

/** An object that an operator wants to exist beside its own, in the same namespace. */
export interface Child {
  readonly kind: Kind;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** All top-level fields but apiVersion, kind and metadata: `{ spec }`, `{ data }`. */
  readonly content: object;
}

/** A child as it is applied: only the fields that are ours. */
export interface ChildManifest {
  readonly ref: ObjectRef;
  readonly body: { readonly metadata: object };
}

export interface Owner {
  readonly object: KubeObject;
  /** Name of its operator. */
  readonly operator: string;
}

/** Adds what makes it a child: label, controller reference, owner by name, and the digest of all that. */
export function manifestOf(child: Child, { object, operator }: Owner): ChildManifest {
  const { namespace } = object.metadata;
  const { kind, name, labels, content } = child;
  const annotations = { ...child.annotations, [ANNOTATION_OWNER]: ownerText(object.metadata) };
  const metadata = {
    name,
    namespace,
    labels: { ...labels, [LABEL_OPERATOR]: operator },
    ownerReferences: [controllerReference(object)],
  };
  const digest = digestOf({ metadata, annotations, content });
  return {
    ref: { kind, namespace, name },
    body: {
      metadata: { ...metadata, annotations: { ...annotations, [ANNOTATION_APPLIED]: digest } },
      ...content,
    },
  };
}

export const controllerReference = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => {
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
};

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

/** `Deployment default/web`, for people. */
export const describeRef = ({ kind, namespace, name }: ObjectRef): string =>
  `${kind.kind} ${namespace === '' ? name : `${namespace}/${name}`}`;

export const refOf = (kind: Kind, { metadata }: KubeObject): ObjectRef => ({
  kind,
  namespace: metadata.namespace,
  name: metadata.name,
});

/** Lists leave apiVersion and kind out of their items. */
export const asObject = (kind: Kind, item: KubeObject): KubeObject => ({
  ...item,
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
});

/** Short enough for an annotation or a label; long enough that two never meet. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex').slice(0, 32);

/** The same text for the same value, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  ) ?? '';
