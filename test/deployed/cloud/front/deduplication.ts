import { createHash } from 'node:crypto';
import { asText, type JsonObject } from '../template/json.ts';
import type { QueueModel } from './queue-model.ts';

/** What the first of equal messages was answered with. */
export interface SendResult {
  readonly MessageId: string;
  readonly SequenceNumber?: string;
}

export interface Deduplication {
  /** The answer to an equal message of the last five minutes. */
  find(queue: QueueModel, message: JsonObject): SendResult | undefined;
  remember(queue: QueueModel, message: JsonObject, result: SendResult): void;
}

const WINDOW_MILLISECONDS = 5 * 60_000;

/**
 * moto compares only with messages that are still in the queue. AWS drops an equal message for five minutes, even if the
 * first was deleted meanwhile: so the front remembers.
 */
export function createDeduplication(): Deduplication {
  const seen = new Map<string, { readonly result: SendResult; readonly at: number }>();
  return {
    find(queue, message) {
      const key = keyOf(queue, message);
      const earlier = key === undefined ? undefined : seen.get(key);
      return earlier && Date.now() - earlier.at < WINDOW_MILLISECONDS ? earlier.result : undefined;
    },
    remember(queue, message, result) {
      const key = keyOf(queue, message);
      if (key !== undefined) seen.set(key, { result, at: Date.now() });
    },
  };
}

function keyOf(queue: QueueModel, message: JsonObject): string | undefined {
  if (!queue.fifo) return undefined;
  const { MessageGroupId: group, MessageBody: body, MessageDeduplicationId: id } = message;
  const own = id ?? (queue.contentBasedDeduplication ? sha256(asText(body)) : undefined);
  if (own === undefined) return undefined;
  const scope = queue.deduplicationScope === 'messageGroup' ? group : '';
  return JSON.stringify([queue.name, scope ?? '', own]);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
