import { randomUUID } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { createRecentMessages } from './deduplication.ts';
import { MessageGroups } from './message-groups.ts';
import { MessageStore, operationsOf } from './message-store.ts';
import {
  checkBody,
  checkReceive,
  type DeadLetterPolicy,
  type DeadLetterTarget,
  type FifoMessage,
  type FifoQueue,
  isFifoId,
} from './queue.ts';

export interface FifoQueueOptions {
  readonly clock: Clock;
  /** Default: a message is delivered until it is deleted, and its group waits for it. */
  readonly deadLetters?: DeadLetterPolicy;
}

/** A queue that delivers a group in order and never while one of the group is in flight. */
export function createFifoQueue(options: FifoQueueOptions): FifoQueue & DeadLetterTarget {
  const { clock } = options;
  const recent = createRecentMessages(clock);
  const groups = new MessageGroups();
  const store = new MessageStore({
    ...options,
    handleOutlivesVisibility: false,
    onVisible: (message) => groups.put(message),
    onSettled: (message) => groups.settle(message),
  });
  let sequence = 0;

  const accept = ({ body, group, dedupId }: FifoMessage): string => {
    const duplicateOf = recent.find(dedupId);
    if (duplicateOf !== undefined) return duplicateOf;
    const messageId = randomUUID();
    sequence += 1;
    const sequenceNumber = String(sequence).padStart(20, '0');
    recent.add(dedupId, messageId);
    store.add({ messageId, body, sentAt: clock.now(), fifo: { group, dedupId, sequenceNumber } });
    return messageId;
  };

  return {
    ...operationsOf(store),
    send: async (messages) => {
      messages.forEach(check);
      return messages.map(accept);
    },
    receive: async (request) => {
      checkReceive(request);
      store.catchUp();
      return groups
        .take(request.max)
        .map((message) => store.deliver(message, request.visibilitySeconds));
    },
    waitForMessages: (signal) => store.waitUntil(() => groups.hasReady, signal),
  };
}

function check({ body, group, dedupId }: FifoMessage): void {
  checkBody(body);
  for (const [name, value] of Object.entries({ group, dedupId })) {
    if (isFifoId(value)) continue;
    throw new RangeError(
      `${name} must be 1 to 128 letters, digits or punctuation, got ${JSON.stringify(value)}`,
    );
  }
}
