import { describeError, type Log } from '../../runtime/log.ts';
import {
  type FifoMessage,
  type FifoQueue,
  isFifoId,
  type ReceivedMessage,
  type StandardQueue,
} from './queue.ts';

export interface PipeOptions {
  readonly source: StandardQueue;
  readonly target: FifoQueue;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** How long a message that could not be moved stays hidden before the next try. Default 30. */
  readonly visibilitySeconds?: number;
}

/** An EventBridge Pipe takes as many from SQS at once. */
const BATCH_SIZE = 10;

/**
 * Moves messages from an inbox to its FIFO queue, with group and deduplication id taken from the body
 * (`$.body.group`, `$.body.dedupId`). A message without them stays, and ends in the inbox's dead-letter queue.
 * Resolves when `signal` aborts.
 */
export async function runPipe(options: PipeOptions): Promise<void> {
  const { source, log, signal, visibilitySeconds = 30 } = options;
  for (;;) {
    await source.waitForMessages(signal);
    if (signal.aborted) return;
    const batch = await source.receive({ max: BATCH_SIZE, visibilitySeconds });
    try {
      await move(batch, options);
    } catch (error) {
      // They are hidden now and come back, so this is no busy loop.
      log.error('pipe could not move messages, will try again', {
        messages: batch.length,
        ...describeError(error),
      });
    }
  }
}

/** Sends before it deletes: a crash in between makes a duplicate, which the FIFO queue drops. */
async function move(batch: readonly ReceivedMessage[], { source, target, log }: PipeOptions) {
  const readable = batch.flatMap((message) => {
    const routed = route(message.body);
    if (routed) return [{ message, routed }];
    const { messageId, receiveCount } = message;
    log.error('message has no group and dedupId', { messageId, receiveCount });
    return [];
  });
  await target.send(readable.map(({ routed }) => routed));
  for (const { message } of readable) await source.delete(message.receiptHandle);
}

function route(body: string): FifoMessage | undefined {
  try {
    const { group, dedupId } = JSON.parse(body) as { group?: unknown; dedupId?: unknown };
    // Checked here, since one bad id would make the queue refuse the whole batch.
    return isFifoId(group) && isFifoId(dedupId) ? { body, group, dedupId } : undefined;
  } catch {
    return undefined;
  }
}
