import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type DelayedHint, MAX_DELAY_SECONDS } from '../cloud.ts';
import { attempted, type Patience } from './attempts.ts';
import { type BatchService, deliverAll } from './batch-delivery.ts';
import { called, faultOfCode } from './call-error.ts';
import { clientOptions } from './client-options.ts';

export interface QueueSite extends Pick<Patience, 'clock' | 'random'> {
  /** Its URL. */
  readonly queue: string;
  readonly region: string;
}

export interface DelayedMessage {
  readonly body: string;
  readonly delaySeconds: number;
}

/** A run sends its last message in the time it has to wind up: seconds, not minutes. */
const SEND_PATIENCE = { attempts: 6, milliseconds: 10_000 } as const;
/** Without it the message comes back too, only later. */
const VISIBILITY_PATIENCE = { attempts: 3, milliseconds: 3_000 } as const;

/** A message may be hidden for 12 hours after it was received, and that may have been one run of 15 minutes ago. */
const MAX_VISIBILITY_SECONDS = 43_200 - 900;

/** The body is the hint alone, as the rule of the bus delivers it too. */
export const sendHints = (site: QueueSite, hints: readonly DelayedHint[]): Promise<void> =>
  sendMessages(
    site,
    hints.map(({ hint, delaySeconds }) => ({
      body: JSON.stringify(hint),
      delaySeconds: wholeSeconds(delaySeconds, MAX_DELAY_SECONDS),
    })),
  );

/** Resolves once every message is stored. */
export function sendMessages(site: QueueSite, messages: readonly DelayedMessage[]): Promise<void> {
  return deliverAll(messages, sendMessageBatchTo(site), { ...SEND_PATIENCE, ...site });
}

function sendMessageBatchTo(site: QueueSite): BatchService<DelayedMessage> {
  const { queue } = site;
  const what = `SendMessageBatch on queue ${nameOf(queue)}`;
  return {
    what,
    sizeOf: ({ body }) => Buffer.byteLength(body),
    send: async (batch) => {
      const Entries = batch.map(({ body, delaySeconds }, index) => ({
        Id: String(index),
        MessageBody: body,
        DelaySeconds: delaySeconds,
      }));
      const command = new SendMessageBatchCommand({ QueueUrl: queue, Entries });
      const reply = await called(what, () => clientFor(site).send(command));
      const stored = new Set(reply.Successful?.map(({ Id }) => Id));
      const failures = new Map(reply.Failed?.map((failure) => [failure.Id, failure]));
      return batch.flatMap((entry, index) => {
        const id = String(index);
        if (stored.has(id)) return [];
        const { Code: code = 'NoAnswer', Message: message, SenderFault } = failures.get(id) ?? {};
        const fault = SenderFault ? 'refused' : 'unavailable';
        return [{ entry, code, message, fault: faultOfCode(code) ?? fault }];
      });
    },
  };
}

/** Counts from now. */
export async function changeVisibility(
  site: QueueSite,
  receiptHandle: string,
  seconds: number,
): Promise<void> {
  const { queue } = site;
  const command = new ChangeMessageVisibilityCommand({
    QueueUrl: queue,
    ReceiptHandle: receiptHandle,
    VisibilityTimeout: wholeSeconds(seconds, MAX_VISIBILITY_SECONDS),
  });
  const what = `ChangeMessageVisibility on queue ${nameOf(queue)}`;
  const call = () => called(what, () => clientFor(site).send(command));
  await attempted(call, { ...VISIBILITY_PATIENCE, ...site });
}

const clients = new Map<string, SQSClient>();

/** One for all queues at the same place, so that they share connections. Where that is, a queue's URL says. */
function clientFor({ queue, region }: QueueSite): SQSClient {
  const { origin } = new URL(queue);
  const client = clients.get(origin) ?? new SQSClient(clientOptions({ region, endpoint: origin }));
  clients.set(origin, client);
  return client;
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** Rounded up, so that nothing comes earlier than asked for. */
const wholeSeconds = (seconds: number, most: number): number =>
  Math.min(Math.max(Math.ceil(seconds), 0), most);
