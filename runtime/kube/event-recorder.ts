import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { describeError, type Log } from '../log.ts';
import type { Kind } from '../operator.ts';
import type { KubeClient } from './client.ts';
import type { Condition, KubeObject } from './objects.ts';

const eventKind: Kind = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' };
/** Names may have 253 characters; a dot and the digest follow. */
const MAX_NAME_PREFIX = 220;
const MAX_NOTE_BYTES = 1024;

export interface EventRecorder {
  /** Tells the user of a changed condition (`kubectl describe`). Never fails a reconcile. */
  record(object: KubeObject, condition: Condition, type: 'Normal' | 'Warning'): Promise<void>;
}

export interface EventRecorderProps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Name of the operator. */
  readonly operator: string;
}

export function createEventRecorder({
  kube,
  clock,
  log,
  operator,
}: EventRecorderProps): EventRecorder {
  return {
    record: async ({ apiVersion, kind, metadata }, condition, type) => {
      const { name, namespace, uid } = metadata;
      const eventTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
      const event = {
        metadata: { name: eventName(name, [uid, condition.type, condition.reason, eventTime]) },
        eventTime,
        type,
        reason: condition.reason,
        note: cutToBytes(condition.message === '' ? condition.reason : condition.message),
        action: 'Reconcile',
        reportingController: `podless.dev/${operator}`,
        reportingInstance: `podless-${operator}`,
        regarding: { apiVersion, kind, namespace, name, uid },
      };
      try {
        await kube.create(eventKind, namespace, event);
      } catch (error) {
        log.error('event not recorded', describeError(error));
      }
    },
  };
}

const eventName = (name: string, parts: readonly string[]): string =>
  // A part of a name must not end in a dash or a dot, wherever it was cut.
  `${name.slice(0, MAX_NAME_PREFIX).replace(/[-.]+$/, '')}.${createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16)}`;

/** Streaming leaves out the half of a character at the end. */
const cutToBytes = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_NOTE_BYTES), { stream: true });
