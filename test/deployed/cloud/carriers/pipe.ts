import {
  type Message,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { describeError } from '../../../../runtime/log.ts';
import { sqsAs } from '../clients.ts';
import type { Fields } from '../template/fields.ts';
import type { Json, JsonObject } from '../template/json.ts';
import type { StackResource } from '../template/stack.ts';
import { type CarrierContext, QUEUE, sessionFor } from './carrier.ts';
import { filterOf } from './filter.ts';
import { renderTemplate } from './input-template.ts';
import { parseJsonPath } from './json-path.ts';
import { createQueueReader, type QueueReader } from './queue-reader.ts';
import { toSqsRecord, withParsedBody } from './sqs-record.ts';

/** A message for the Pipe's target, made from a record of its source. Throws if the record has not what it needs. */
export type ToTarget = (record: JsonObject) => Omit<SendMessageBatchRequestEntry, 'Id'>;

/** @param parameters TargetParameters of the Pipe */
export function createToTarget(parameters: Fields | undefined): ToTarget {
  const template = parameters?.optionalText('InputTemplate');
  const queue = parameters?.optionalFields('SqsQueueParameters');
  const group = dynamicValue(queue, 'MessageGroupId');
  const deduplication = dynamicValue(queue, 'MessageDeduplicationId');
  return (record) => {
    // The body is looked into, but passed on as text where the whole record is.
    const parsed = withParsedBody(record);
    return {
      MessageBody:
        template === undefined ? JSON.stringify(record) : renderTemplate(template, parsed),
      ...(group && { MessageGroupId: group(parsed) }),
      ...(deduplication && { MessageDeduplicationId: deduplication(parsed) }),
    };
  };
}

/** A parameter that begins with `$` is a path into the event; any other is meant as it stands. */
function dynamicValue(parameters: Fields | undefined, name: string) {
  const text = parameters?.optionalText(name);
  if (text === undefined) return undefined;
  if (!text.startsWith('$')) return () => text;
  const path = parseJsonPath(text);
  return (event: Json): string => {
    const value = path(event);
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw new Error(`${name} ${text} finds no text in the event`);
  };
}

/** Moves messages from queue to queue as the Pipe's own role. What fails stays, and comes back by its visibility timeout. */
export async function startPipe(pipe: StackResource, context: CarrierContext): Promise<void> {
  const { stack, signal, report } = context;
  const { name, arn, fields } = pipe;
  if (fields.optionalText('DesiredState') === 'STOPPED') return;
  const role = fields.text('RoleArn');
  const client = sqsAs(stack.place, sessionFor(context, role, 'pipes.amazonaws.com', arn, name));
  const source = stack.byArn(QUEUE, fields.text('Source'));
  const target = stack.byArn(QUEUE, fields.text('Target'));
  const parameters = fields.optionalFields('SourceParameters');
  const toTarget = createToTarget(fields.optionalFields('TargetParameters'));
  const filter = filterOf(parameters?.optionalFields('FilterCriteria'));
  const reader = createQueueReader({
    client,
    url: source.ref,
    batchSize: parameters?.optionalFields('SqsQueueParameters')?.optionalNumber('BatchSize') ?? 10,
    signal,
    onFailure: (error) => report('pipe cannot read', { pipe: name, ...describeError(error) }),
  });
  await reader.open();
  const move = async (messages: readonly Message[]): Promise<void> => {
    const records = messages.map((message) => ({
      message,
      record: toSqsRecord(message, source.arn),
    }));
    const wanted = records.filter(({ record }) => filter(withParsedBody(record)));
    const entries = wanted.map(({ message, record }) => ({ message, entry: toTarget(record) }));
    await reader.delete(
      records.filter((one) => !wanted.includes(one)).map(({ message }) => message),
    );
    await reader.delete(await send(client, target.ref, entries));
  };
  void carry(reader, move, pipe, context);
}

async function carry(
  reader: QueueReader,
  move: (messages: readonly Message[]) => Promise<void>,
  { name }: StackResource,
  { signal, report }: CarrierContext,
): Promise<void> {
  while (!signal.aborted) {
    const messages = await reader.receive();
    if (messages.length === 0) continue;
    await move(messages).catch((error: unknown) => {
      if (!signal.aborted)
        report('pipe could not move messages', { pipe: name, ...describeError(error) });
    });
  }
}

interface Outgoing {
  readonly message: Message;
  readonly entry: Omit<SendMessageBatchRequestEntry, 'Id'>;
}

/** Resolves with the messages that were sent. */
async function send(
  client: SQSClient,
  QueueUrl: string,
  outgoing: readonly Outgoing[],
): Promise<readonly Message[]> {
  const [first] = outgoing;
  if (!first) return [];
  if (outgoing.length === 1) {
    await client.send(new SendMessageCommand({ QueueUrl, ...first.entry }));
    return [first.message];
  }
  const Entries = outgoing.map(({ entry }, index) => ({ Id: `${index}`, ...entry }));
  const { Successful = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  const sent = new Set(Successful.map(({ Id }) => Number(Id)));
  return outgoing.filter((_, index) => sent.has(index)).map(({ message }) => message);
}
