import { randomUUID } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { MAX_DELAY_SECONDS } from '../../runtime/cloud.ts';
import { createLine } from './line.ts';
import { MessageStore, operationsOf, type StoredMessage } from './message-store.ts';
import {
  checkBody,
  checkRange,
  checkReceive,
  type DeadLetterPolicy,
  type DeadLetterTarget,
  type ReceivedMessage,
  type StandardMessage,
  type StandardQueue,
} from './queue.ts';

export interface StandardQueueOptions {
  readonly clock: Clock;
  /** Default: a message is delivered until it is deleted. */
  readonly deadLetters?: DeadLetterPolicy;
}

/** A queue with per-message delay: at least once, in no promised order. */
export function createStandardQueue(
  options: StandardQueueOptions,
): StandardQueue & DeadLetterTarget {
  const { clock } = options;
  const visible = createLine<StoredMessage>();
  const store = new MessageStore({
    ...options,
    handleOutlivesVisibility: true,
    onVisible: (message) => visible.push(message),
    onSettled: () => {},
  });

  // A message can be deleted while it stands in the line, by the handle of its last delivery.
  const firstVisible = (): StoredMessage | undefined => {
    while (visible.first()?.state === 'gone') visible.shift();
    return visible.first();
  };

  return {
    ...operationsOf(store),
    send: async (messages) => {
      messages.forEach(check);
      return messages.map(({ body, delaySeconds }) => {
        const messageId = randomUUID();
        store.add({ messageId, body, sentAt: clock.now() }, delaySeconds);
        return messageId;
      });
    },
    receive: async (request) => {
      checkReceive(request);
      store.catchUp();
      const batch: ReceivedMessage[] = [];
      while (batch.length < request.max) {
        const message = firstVisible();
        if (message === undefined) break;
        visible.shift();
        batch.push(store.deliver(message, request.visibilitySeconds));
      }
      return batch;
    },
    waitForMessages: (signal) => store.waitUntil(() => firstVisible() !== undefined, signal),
  };
}

function check({ body, delaySeconds = 0 }: StandardMessage): void {
  checkBody(body);
  checkRange('delaySeconds', delaySeconds, { from: 0, to: MAX_DELAY_SECONDS });
}
