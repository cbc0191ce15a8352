import { type Inbox, MAX_DELAY_SECONDS, type WorkQueue } from '../../runtime/cloud.ts';
import type { MessageQueue, StandardQueue } from './queue.ts';

/** The port by which functions send to an inbox. The body is the hint, as the bus delivers it too. */
export const createInbox = (queue: StandardQueue): Inbox => ({
  send: async (hints) => {
    await queue.send(
      hints.map(({ hint, delaySeconds }) => ({
        body: JSON.stringify(hint),
        delaySeconds: wholeSeconds(delaySeconds),
      })),
    );
  },
});

/** The port by which a reconciler says when a failed message is to come back. */
export const createWorkQueue = (queue: MessageQueue): WorkQueue => ({
  retryAfter: (receiptHandle, seconds) => queue.changeVisibility(receiptHandle, Math.ceil(seconds)),
});

/** SQS knows whole seconds only; rounded up, so that nothing comes earlier than asked for. */
const wholeSeconds = (seconds: number): number =>
  Math.min(Math.max(Math.ceil(seconds), 0), MAX_DELAY_SECONDS);
