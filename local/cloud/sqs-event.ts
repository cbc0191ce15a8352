import type { ReceivedMessage } from './queue.ts';

/** The event a function gets for messages of a queue. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

export interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageAttributes: Readonly<Record<string, never>>;
  readonly eventSource: 'aws:sqs';
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

/** @param queueArn arn:aws:sqs:region:account:name */
export function toSqsEvent(messages: readonly ReceivedMessage[], queueArn: string): SqsEvent {
  const awsRegion = queueArn.split(':')[3] ?? '';
  return {
    Records: messages.map((message) => ({
      messageId: message.messageId,
      receiptHandle: message.receiptHandle,
      body: message.body,
      attributes: attributesOf(message),
      messageAttributes: {},
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion,
    })),
  };
}

const attributesOf = (message: ReceivedMessage): Readonly<Record<string, string>> => ({
  ApproximateReceiveCount: String(message.receiveCount),
  SentTimestamp: String(message.sentAt),
  ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
  ...(message.fifo && {
    MessageGroupId: message.fifo.group,
    MessageDeduplicationId: message.fifo.dedupId,
    SequenceNumber: message.fifo.sequenceNumber,
  }),
});
