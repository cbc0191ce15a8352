import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiptHandleIsInvalid,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueueModel } from './front/queue-model.ts';

export interface QueueDepth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** A queue as a person with all rights sees it. */
export interface QueueView {
  readonly name: string;
  readonly url: string;
  depth(): Promise<QueueDepth>;
  /** Up to ten messages, left where they are. They count as received: meant for dead letters. */
  peek(): Promise<readonly Message[]>;
  send(body: string, fifo?: { readonly group: string; readonly dedupId: string }): Promise<void>;
  /**
   * Time travel: the visibility timeouts of all messages in flight are over now. Functions that still work on them go
   * on, as they would on AWS. Resolves with the number of messages.
   */
  expireVisibility(): Promise<number>;
}

export function createQueueView(
  { name, url: QueueUrl, fifo }: QueueModel,
  client: SQSClient,
  handlesOf: (queue: string) => readonly string[],
): QueueView {
  const show = async (ReceiptHandle: string | undefined): Promise<void> => {
    const command = { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 };
    await client.send(new ChangeMessageVisibilityCommand(command));
  };
  return {
    name,
    url: QueueUrl,
    depth: () => depthOf(client, QueueUrl),
    async peek() {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      const { Messages = [] } = await client.send(command);
      for (const { ReceiptHandle } of Messages) await show(ReceiptHandle);
      return Messages;
    },
    async send(MessageBody, ids) {
      if (fifo !== (ids !== undefined))
        throw new Error(`queue ${name}: a group is for FIFO queues`);
      const own = ids && { MessageGroupId: ids.group, MessageDeduplicationId: ids.dedupId };
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...own }));
    },
    async expireVisibility() {
      const shown = await Promise.allSettled(handlesOf(name).map(show));
      const problems = shown.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      // Deleted, or moved to the dead letters, in the meantime.
      const strange = problems.find((problem) => !(problem instanceof ReceiptHandleIsInvalid));
      if (strange) throw strange;
      return shown.length - problems.length;
    },
  };
}

async function depthOf(client: SQSClient, QueueUrl: string): Promise<QueueDepth> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  const { Attributes = {} } = await client.send(command);
  const counts: Readonly<Record<string, string>> = Attributes;
  const count = (suffix: string): number => Number(counts[`ApproximateNumberOfMessages${suffix}`]);
  return { visible: count(''), inFlight: count('NotVisible'), delayed: count('Delayed') };
}
