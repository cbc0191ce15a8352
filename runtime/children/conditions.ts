import type { ConditionState, Failure } from '../reconcile.ts';
import { ConflictError } from './conflict.ts';

export const CONDITION_CONFLICT = 'Conflict';

/**
 * For `describeFailure`: Conflict is True while a name that we need belongs to somebody else. A reconcile that succeeds
 * mentions no Conflict, and so it goes.
 */
export function conflictConditions({ object, error }: Failure): readonly ConditionState[] {
  const { reason, message } = error;
  if (error instanceof ConflictError) {
    return [{ type: CONDITION_CONFLICT, status: 'True', reason: 'NameTaken', message }];
  }
  const shown = object.status?.conditions?.some(({ type }) => type === CONDITION_CONFLICT) ?? false;
  // Whether the name is free by now was not looked at: something else came first.
  return shown ? [{ type: CONDITION_CONFLICT, status: 'Unknown', reason, message }] : [];
}
