import { createHint, type Hint } from '../hint.ts';
import { ANNOTATION_OWNER } from '../labels.ts';
import type { Kind, Operator, OwnedKind } from '../operator.ts';
import { previewOf } from '../preview.ts';
import { fieldOf, textOf } from '../untrusted.ts';
import { type ChangeType, decideForwarding } from './forwarding.ts';
import type { Identity } from './identity.ts';

/** An object of which only the identity has been checked. */
export interface Seen {
  readonly identity: Identity;
  readonly object: unknown;
}

export interface Change extends Seen {
  readonly type: ChangeType;
}

/** One stream of changes, and what each change means to the operators. */
export interface WatchSource {
  readonly kind: Kind;
  /** Default: all objects of the kind. */
  readonly labelSelector?: string;
  readonly cursorKey: string;
  /** `undefined` if the change needs no reconcile. */
  hintForChange(change: Change): Hint | undefined;
  /** The kind whose objects are looked at when changes may have been missed. */
  readonly relistedKind: Kind;
  /** @param resourceVersion where the watch will go on after this list */
  hintForListed(seen: Seen, resourceVersion: string): Hint | undefined;
}

/** The objects of an operator's own kind. */
export function createKindSource(cluster: string, operator: Operator): WatchSource {
  const { kind, preview = [] } = operator;
  const hintForChange = ({ type, identity, object }: Change) => {
    const reason = decideForwarding(type, object);
    if (reason === undefined) return undefined;
    const occasion = `${type === 'DELETED' ? 'deleted' : 'rv'}:${identity.resourceVersion}`;
    const hint = createHint({ cluster, kind, ...identity }, reason, occasion);
    // Of what is gone, nothing will be needed.
    if (type === 'DELETED' || preview.length === 0) return hint;
    return { ...hint, preview: previewOf(object, preview) };
  };
  return {
    kind,
    cursorKey: `${cluster}/${kind.group}/${kind.plural}`,
    hintForChange,
    relistedKind: kind,
    // A deletion missed here needs no hint: what must be cleaned up has a finalizer, so the object is still in the list.
    hintForListed: (seen) => hintForChange({ type: 'ADDED', ...seen }),
  };
}

/**
 * The children an operator makes. A child that vanished unseen is in no list, so after a list every owner is looked at.
 */
export function createOwnedSource(
  cluster: string,
  operator: Operator,
  owned: OwnedKind,
): WatchSource {
  const { kind } = operator;
  const { labelSelector, plural } = owned;
  return {
    kind: owned,
    labelSelector,
    // With the operator: two of them may own the same kind under the same label, each at its own pace.
    cursorKey: `${cluster}/${owned.group}/${plural}/${labelSelector}/${operator.name}`,
    hintForChange: ({ identity, object }) => {
      const owner = controllingOwner(object, kind) ?? namedOwner(object);
      if (owner === undefined) return undefined;
      const subject = { cluster, kind, namespace: identity.namespace, ...owner };
      const occasion = `child:${identity.uid}:${identity.resourceVersion}`;
      return createHint(subject, 'ChildChanged', occasion);
    },
    relistedKind: kind,
    hintForListed: ({ identity }, resourceVersion) =>
      createHint(
        { cluster, kind, ...identity },
        'ChildrenRelisted',
        `relisted:${plural}:${resourceVersion}`,
      ),
  };
}

/** A child in another namespace than its owner can only name it. */
function namedOwner(
  object: unknown,
): { readonly namespace: string; readonly name: string } | undefined {
  const text = textOf(fieldOf(fieldOf(object, 'metadata'), 'annotations'), ANNOTATION_OWNER);
  const [namespace, name, ...rest] = text?.split('/') ?? [];
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined;
}

function controllingOwner(
  object: unknown,
  kind: Kind,
): { readonly name: string; readonly uid: string } | undefined {
  const references = fieldOf(fieldOf(object, 'metadata'), 'ownerReferences');
  if (!Array.isArray(references)) return undefined;
  const owner: unknown = references.find((one) => fieldOf(one, 'controller') === true);
  const name = textOf(owner, 'name');
  const uid = textOf(owner, 'uid');
  const ours = textOf(owner, 'kind') === kind.kind && groupOf(owner) === kind.group;
  return ours && name && uid ? { name, uid } : undefined;
}

/** Versions of one group are views of the same objects, so only the group is compared. */
function groupOf(reference: unknown): string {
  const apiVersion = textOf(reference, 'apiVersion') ?? '';
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}
