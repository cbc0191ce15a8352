import type { Clock } from '../../runtime/clock.ts';
import { describeError, type Log } from '../../runtime/log.ts';
import { failedMessageIds } from './batch-response.ts';
import type { MessageQueue, ReceivedMessage } from './queue.ts';
import { type SqsEvent, toSqsEvent } from './sqs-event.ts';
import { createWakeup } from './wakeup.ts';

export interface EventSourceMappingOptions {
  readonly clock: Clock;
  readonly queue: MessageQueue;
  /** arn:aws:sqs:region:account:name */
  readonly queueArn: string;
  /** Resolves with the function's answer; rejects if the function failed or was killed. */
  readonly invoke: (event: SqsEvent) => Promise<unknown>;
  /** Runs at the same time. */
  readonly maximumConcurrency: number;
  /** Messages a run. Default 1. */
  readonly batchSize?: number;
  /**
   * How long messages stay hidden while they are worked on. Must be longer than a run can take with its cold start,
   * or one object is reconciled twice at once; AWS advises six times the function's timeout.
   */
  readonly visibilitySeconds: number;
  /**
   * How soon the messages of a run that failed as a whole (killed, crashed, unreadable answer) come back. Default: as on
   * AWS when their visibility timeout has passed, which is long to wait for on a laptop.
   */
  readonly retryFailedRunSeconds?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Feeds a function from a queue. Resolves, after `signal` has aborted, when every run it started has ended; stop the
 * function to make that soon.
 */
export async function runEventSourceMapping(options: EventSourceMappingOptions): Promise<void> {
  const { queue, signal, maximumConcurrency, batchSize = 1, visibilitySeconds } = options;
  const runEnded = createWakeup(options.clock);
  const runs = new Set<Promise<void>>();
  for (;;) {
    while (runs.size >= maximumConcurrency && !signal.aborted) await runEnded.wait(signal);
    await queue.waitForMessages(signal);
    if (signal.aborted) break;
    const messages = await queue.receive({ max: batchSize, visibilitySeconds });
    if (messages.length === 0) continue;
    const run = runOnce(messages, options).finally(() => {
      runs.delete(run);
      runEnded.notify();
    });
    runs.add(run);
  }
  await Promise.all(runs);
}

/** Never rejects. What it does not delete comes back by itself. */
async function runOnce(
  messages: readonly ReceivedMessage[],
  options: EventSourceMappingOptions,
): Promise<void> {
  const { queue, queueArn, invoke, log, signal } = options;
  try {
    const answer = await invoke(toSqsEvent(messages, queueArn));
    const failed = failedMessageIds(answer, new Set(messages.map(({ messageId }) => messageId)));
    for (const { messageId, receiptHandle } of messages) {
      // A failed one is left alone: the function may have chosen when it is to be tried again.
      if (!failed.has(messageId)) await queue.delete(receiptHandle);
    }
  } catch (error) {
    if (signal.aborted) return;
    log.error('function run failed, its messages will be tried again', {
      messages: messages.map(({ messageId, receiveCount }) => ({ messageId, receiveCount })),
      ...describeError(error),
    });
    await retrySoon(messages, options);
  }
}

async function retrySoon(
  messages: readonly ReceivedMessage[],
  { queue, retryFailedRunSeconds }: EventSourceMappingOptions,
): Promise<void> {
  if (retryFailedRunSeconds === undefined) return;
  for (const { receiptHandle } of messages) {
    // Not in flight any more means that it has come back already.
    await queue.changeVisibility(receiptHandle, retryFailedRunSeconds).catch(() => {});
  }
}
