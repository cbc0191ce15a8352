import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { describeError, type Log } from '../log.ts';
import type { Kind } from '../operator.ts';
import { isKubeStatus, type KubeClient } from './client.ts';
import type { Condition, KubeObject } from './objects.ts';

const eventKind: Kind = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' };
/** Names may have 253 characters; a dot and the digest follow. */
const MAX_NAME_PREFIX = 220;
const MAX_NOTE_BYTES = 1024;

export interface EventRecorder {
  /** Tells the user of a changed condition (`kubectl describe`). Never fails a reconcile. */
  record(object: KubeObject, condition: Told, type: EventType): Promise<void>;
  /** The same, but only once for each generation of the object, however often it is called. */
  recordOnce(object: KubeObject, condition: Told, type: EventType): Promise<void>;
}

export type EventType = 'Normal' | 'Warning';
type Told = Pick<Condition, 'type' | 'reason' | 'message'>;

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
  const now = () => new Date(clock.now()).toISOString().replace('Z', '000Z');
  const create = async (object: KubeObject, condition: Told, how: Recording): Promise<void> => {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace, uid } = metadata;
    const event = {
      metadata: { name: eventName(name, [uid, condition.type, condition.reason, how.occasion]) },
      eventTime: now(),
      type: how.type,
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
      // Told already.
      if (isKubeStatus(error, 409)) return;
      log.error('event not recorded', describeError(error));
    }
  };
  return {
    record: (object, condition, type) => create(object, condition, { type, occasion: now() }),
    recordOnce: (object, condition, type) =>
      create(object, condition, { type, occasion: `generation ${object.metadata.generation}` }),
  };
}

interface Recording {
  readonly type: EventType;
  /** What makes it another Event than the last one of the same reason. */
  readonly occasion: string;
}

const eventName = (name: string, parts: readonly string[]): string =>
  // A part of a name must not end in a dash or a dot, wherever it was cut.
  `${name.slice(0, MAX_NAME_PREFIX).replace(/[-.]+$/, '')}.${createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16)}`;

/** Streaming leaves out the half of a character at the end. */
const cutToBytes = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_NOTE_BYTES), { stream: true });
