import { randomUUID } from 'node:crypto';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type {
  FifoQueue,
  MessageQueue,
  ReceivedMessage,
  StandardQueue,
} from '../../local/cloud/queue.ts';
import { changeVisibility, sendMessages } from '../../runtime/aws/sqs.ts';
import { systemClock } from '../../runtime/clock.ts';
import { until } from './until.ts';

const REGION = 'us-east-1';

export interface AwsQueue {
  readonly url: string;
  readonly arn: string;
}

export interface CreateOptions {
  readonly fifo?: boolean;
  readonly deadLetters?: { readonly arn: string; readonly maxReceives: number };
}

/** Makes queues, and sees them as the contract of queues does. */
export interface AwsQueues {
  create(options?: CreateOptions): Promise<AwsQueue>;
  /** Sends by the runtime's own port, as it does to an inbox. */
  standard(url: string): StandardQueue;
  /** Sends as a Pipe would; none of our code does. */
  fifo(url: string): FifoQueue;
}

export function createAwsQueues(endpoint: string): AwsQueues {
  const client = new SQSClient({ region: REGION, endpoint });
  return {
    async create({ fifo = false, deadLetters } = {}) {
      const Attributes = {
        ...(fifo && { FifoQueue: 'true' }),
        ...(deadLetters && {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: deadLetters.arn,
            maxReceiveCount: deadLetters.maxReceives,
          }),
        }),
      };
      const QueueName = `${randomUUID()}${fifo ? '.fifo' : ''}`;
      const made = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
      const url = made.QueueUrl ?? '';
      return { url, arn: await attribute(client, url, 'QueueArn') };
    },
    standard: (url) => ({
      ...messageQueue(client, url),
      send: async (messages) => {
        const delayed = messages.map(({ body, delaySeconds = 0 }) => ({ body, delaySeconds }));
        await sendMessages({ queue: url, region: REGION, clock: systemClock }, delayed);
        return [];
      },
    }),
    fifo: (url) => ({
      ...messageQueue(client, url),
      send: async (messages) => {
        const Entries = messages.map(({ body, group, dedupId }, index) => ({
          Id: String(index),
          MessageBody: body,
          MessageGroupId: group,
          MessageDeduplicationId: dedupId,
        }));
        const reply = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
        const [failure] = reply.Failed ?? [];
        if (failure) throw new Error(`${failure.Code}: ${failure.Message}`);
        return (reply.Successful ?? []).map(({ MessageId }) => MessageId ?? '');
      },
    }),
  };
}

/** Changes visibility by the runtime's own port; the rest is what Lambda and the Pipe do. */
function messageQueue(client: SQSClient, QueueUrl: string): MessageQueue {
  const depth = async () => {
    const names = ['', 'NotVisible', 'Delayed'] as const;
    const [visible = 0, inFlight = 0, delayed = 0] = await Promise.all(
      names.map(async (name) =>
        Number(await attribute(client, QueueUrl, `ApproximateNumberOfMessages${name}`)),
      ),
    );
    return { visible, inFlight, delayed, oldestAgeSeconds: 0 };
  };
  return {
    depth,
    async receive({ max, visibilitySeconds }) {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: max,
        VisibilityTimeout: visibilitySeconds,
        WaitTimeSeconds: 0,
        MessageSystemAttributeNames: ['All'],
      });
      return ((await client.send(command)).Messages ?? []).map(toReceived);
    },
    async delete(ReceiptHandle) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    },
    changeVisibility: (receiptHandle, seconds) =>
      changeVisibility(
        { queue: QueueUrl, region: REGION, clock: systemClock },
        receiptHandle,
        seconds,
      ),
    async waitForMessages(signal) {
      const ask = async () => (signal.aborted || (await depth()).visible > 0 ? true : undefined);
      await until(ask, { seconds: 60, what: async () => 'a message to be visible' });
    },
  };
}

async function attribute(
  client: SQSClient,
  QueueUrl: string,
  name:
    | 'QueueArn'
    | 'ApproximateNumberOfMessages'
    | 'ApproximateNumberOfMessagesNotVisible'
    | 'ApproximateNumberOfMessagesDelayed',
): Promise<string> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [name] });
  return (await client.send(command)).Attributes?.[name] ?? '';
}

function toReceived(message: Message): ReceivedMessage {
  const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} } = message;
  const group = Attributes.MessageGroupId;
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    receiveCount: Number(Attributes.ApproximateReceiveCount),
    sentAt: Number(Attributes.SentTimestamp),
    firstReceivedAt: Number(Attributes.ApproximateFirstReceiveTimestamp),
    ...(group !== undefined && {
      fifo: {
        group,
        dedupId: Attributes.MessageDeduplicationId ?? '',
        sequenceNumber: Attributes.SequenceNumber ?? '',
      },
    }),
  };
}
