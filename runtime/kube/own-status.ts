import type { CommonStatus } from './objects.ts';

/** The part of a status that is the kind's own, without what the runtime writes for every kind. */
export function ownStatus<Status extends object>(status: Status & CommonStatus): object & Status {
  const { conditions: _c, observedGeneration: _g, lastHandledReconcileAt: _h, ...own } = status;
  return own as Status;
}
