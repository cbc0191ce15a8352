import { toTimestamp } from './clock.ts';
import type { Condition } from './kube/objects.ts';
import type { ConditionState } from './reconcile.ts';

export const CONDITION_READY = 'Ready';
export const CONDITION_PAUSED = 'Paused';

/** Nobody reads longer ones in a condition. */
const MAX_MESSAGE_LENGTH = 1000;

export interface Moment {
  readonly generation: number | undefined;
  readonly now: number;
}

/** The new list of conditions; `lastTransitionTime` moves only where `status` does. */
export function mergeConditions(
  previous: readonly Condition[],
  states: readonly ConditionState[],
  { generation, now }: Moment,
): readonly Condition[] {
  return states.map(({ type, status, reason, message }) => {
    const before = previous.find((condition) => condition.type === type);
    return {
      type,
      status,
      reason,
      message: shorten(message),
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : toTimestamp(now),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  });
}

/**
 * The conditions worth a Kubernetes Event: new ones, and those whose status or reason is another now. Two that say the same
 * are told once.
 */
export function changedConditions(
  previous: readonly Condition[],
  next: readonly Condition[],
): readonly Condition[] {
  const changed = next.filter((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    return before?.status !== condition.status || before.reason !== condition.reason;
  });
  return changed.filter(
    ({ reason, message }, index) =>
      changed.findIndex((one) => one.reason === reason && one.message === message) === index,
  );
}

/** `next` in the place of the conditions of the same type; the others stay as they are. */
export function replaceConditions(
  previous: readonly Condition[],
  next: readonly Condition[],
): readonly Condition[] {
  const known = new Set(previous.map(({ type }) => type));
  const replaced = previous.map(
    (before) => next.find(({ type }) => type === before.type) ?? before,
  );
  return [...replaced, ...next.filter(({ type }) => !known.has(type))];
}

/** Never in the middle of a surrogate pair, which the API server would refuse. */
const shorten = (message: string): string =>
  message.length > MAX_MESSAGE_LENGTH
    ? `${message.slice(0, MAX_MESSAGE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`
    : message;
