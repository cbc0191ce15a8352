import { TransientError } from '../errors.ts';
import type { KubeObject, ObjectRef } from '../kube/objects.ts';
import { ANNOTATION_OWNER } from '../labels.ts';
import { controllerOf, describeRef } from './child.ts';

/** An object of the name we need belongs to somebody else. It is never touched; it may go, so we look again. */
export class ConflictError extends TransientError {
  constructor(ref: ObjectRef, owner: string) {
    super('Conflict', `${describeRef(ref)} exists already and belongs to ${owner}`);
  }
}

/** Who an object belongs to, for people: its controller, the Helm release it is part of, or who wrote it. */
export function describeOwner(live: KubeObject): string {
  const controller = controllerOf(live);
  if (controller) return `${controller.kind} ${controller.name}`;
  const { annotations = {}, managedFields = [] } = live.metadata;
  const named = annotations[ANNOTATION_OWNER];
  if (named !== undefined) return `${named}, as its annotation ${ANNOTATION_OWNER} says`;
  const release = annotations['meta.helm.sh/release-name'];
  if (release !== undefined) {
    return `the Helm release ${annotations['meta.helm.sh/release-namespace'] ?? ''}/${release}`;
  }
  const manager = managedFields.find(({ subresource }) => !subresource)?.manager;
  return manager === undefined ? 'nobody we know' : `nobody; it was made by ${manager}`;
}
