import {
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { systemClock } from '../../../../runtime/clock.ts';

export interface QueueReaderOptions {
  /** Signed by whoever reads. */
  readonly client: SQSClient;
  readonly url: string;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  /** Told why messages cannot be read. */
  readonly onFailure: (error: unknown) => void;
}

/** Reads a queue as services of AWS do: waits for messages, and deletes what was dealt with. */
export interface QueueReader {
  /** Throws if the reader may not even look at the queue. */
  open(): Promise<void>;
  /** Empty when the signal has aborted, or nothing came for a while. */
  receive(): Promise<readonly Message[]>;
  delete(messages: readonly Message[]): Promise<void>;
}

const WAIT_SECONDS = 20;
const PAUSE_MILLISECONDS = 1000;

export function createQueueReader(options: QueueReaderOptions): QueueReader {
  const { client, url: QueueUrl, batchSize, signal, onFailure } = options;
  return {
    async open() {
      await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    },
    async receive() {
      try {
        const command = new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: batchSize,
          WaitTimeSeconds: WAIT_SECONDS,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        });
        const { Messages = [] } = await client.send(command, { abortSignal: signal });
        return Messages;
      } catch (error) {
        if (!signal.aborted) onFailure(error);
        await systemClock.sleep(PAUSE_MILLISECONDS, signal).catch(() => {});
        return [];
      }
    },
    async delete(messages) {
      const [first] = messages;
      if (messages.length === 0) return;
      if (messages.length === 1) {
        const ReceiptHandle = first?.ReceiptHandle;
        await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        return;
      }
      const Entries = messages.map(({ ReceiptHandle }, index) => ({
        Id: `${index}`,
        ReceiptHandle,
      }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    },
  };
}
