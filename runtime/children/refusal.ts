import { TransientError } from '../errors.ts';
import { KubeApiError } from '../kube/client.ts';
import type { ObjectRef } from '../kube/objects.ts';
import { describeRef } from './child.ts';

const REFUSALS: readonly number[] = [400, 403, 422];

/** A child that a quota, a policy, a webhook or a missing right refuses: for the user to read and to put right. */
export const explainRefusal =
  (ref: ObjectRef) =>
  (error: unknown): never => {
    if (!(error instanceof KubeApiError && REFUSALS.includes(error.status))) throw error;
    const message = `${describeRef(ref)} was refused by the API server: ${error.message}`;
    throw new TransientError('ChildRefused', message, { cause: error });
  };
