import { createHash } from 'node:crypto';
import { apiVersionOf, type Kind } from './operator.ts';
import type { Preview } from './preview.ts';

/** Source of every event on the bus; rules select by it. */
export const HINT_SOURCE = 'podless';

/**
 * What travels from the watcher to a reconciler: which object to look at, never the object itself. The reconciler
 * reads the object live, so a hint may be late, repeated or out of order.
 */
export interface Hint {
  readonly cluster: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  /** Why: Changed, Deleted, ChildChanged, Resync, Requeue: <text>, ... For people and logs. */
  readonly reason: string;
  /** FIFO message group: one object is never reconciled twice at once. */
  readonly group: string;
  /** FIFO deduplication id: the same change seen by two watchers is one message. */
  readonly dedupId: string;
  /** Requeues in a row that changed nothing. */
  readonly hops?: number;
  /** Of a new or changed object, for the kinds that ask for it. */
  readonly preview?: Preview;
}

export interface HintSubject {
  readonly cluster: string;
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
}

/**
 * @param occasion what makes this hint different from others on the same object; equal occasions within five minutes are one
 */
export function createHint(subject: HintSubject, reason: string, occasion: string): Hint {
  const { kind, ...rest } = subject;
  const apiVersion = apiVersionOf(kind);
  // Hashed because SQS allows 128 characters and namespace + name alone may have 316.
  const group = digest(subject.cluster, kind.group, kind.kind, subject.namespace, subject.name);
  const dedupId = digest(group, subject.uid ?? '', occasion);
  return { ...rest, apiVersion, kind: kind.kind, reason, group, dedupId };
}

const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex');
