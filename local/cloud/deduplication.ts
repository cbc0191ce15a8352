import type { Clock } from '../../runtime/clock.ts';
import { createLine } from './line.ts';

/** SQS remembers a deduplication id this long, also after its message was processed and deleted. */
export const DEDUPLICATION_SECONDS = 300;

/** Which messages a FIFO queue has accepted lately. */
export interface RecentMessages {
  /** The id of the message that was accepted under `dedupId` within the window. */
  find(dedupId: string): string | undefined;
  add(dedupId: string, messageId: string): void;
}

export function createRecentMessages(clock: Clock): RecentMessages {
  const messageIds = new Map<string, string>();
  const inOrder = createLine<{ readonly dedupId: string; readonly until: number }>();

  // Every id lives equally long, so the oldest is always first and nothing has to be searched.
  const forgetOld = () => {
    const now = clock.now();
    for (let first = inOrder.first(); first && first.until <= now; first = inOrder.first()) {
      messageIds.delete(first.dedupId);
      inOrder.shift();
    }
  };

  return {
    find: (dedupId) => {
      forgetOld();
      return messageIds.get(dedupId);
    },
    add: (dedupId, messageId) => {
      messageIds.set(dedupId, messageId);
      inOrder.push({ dedupId, until: clock.now() + DEDUPLICATION_SECONDS * 1000 });
    },
  };
}
