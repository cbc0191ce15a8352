import { createHash } from 'node:crypto';
import { asText, isList, isObject, type JsonObject } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import { createDeduplication, type Deduplication } from './deduplication.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import { createInTurn, type InTurn } from './in-turn.ts';
import type { Moto } from './moto.ts';
import type { QueueModel } from './queue-model.ts';
import { ServiceError } from './replies.ts';

/** One operation on one message or queue; the batch forms are made of them. */
export type QueueOperation = (
  call: AwsCall,
  queue: QueueModel,
  input: JsonObject,
) => Promise<JsonObject>;

export interface QueueOperationsOptions {
  readonly moto: Moto;
  /** Delays and the backoff that a function chooses pass this many times faster. */
  readonly timeScale: number;
  /** Resolves when something may have come into the queue, or at the given time. */
  readonly changeOf: (queue: QueueModel, until: number, signal: AbortSignal) => Promise<void>;
}

interface State extends QueueOperationsOptions {
  readonly deduplication: Deduplication;
  readonly inFlight: InFlight;
  readonly sendInTurn: InTurn;
}

/** The operations of SQS, with what moto lacks. */
export function createQueueOperations(options: QueueOperationsOptions) {
  const state: State = {
    ...options,
    deduplication: createDeduplication(),
    inFlight: createInFlight(),
    sendInTurn: createInTurn(),
  };
  const operations: Readonly<Record<string, QueueOperation>> = {
    SendMessage: (call, queue, input) => state.sendInTurn(() => send(state, call, queue, input)),
    ReceiveMessage: (call, queue, input) => receive(state, call, queue, input),
    DeleteMessage: (call, queue, input) => remove(state, call, queue, input),
    ChangeMessageVisibility: (call, queue, input) => changeVisibility(state, call, queue, input),
    GetQueueAttributes: (call, _, input) => state.moto.perform(call, 'GetQueueAttributes', input),
  };
  return { operations, handlesOf: state.inFlight.handlesOf };
}

type StatefulOperation = (state: State, ...rest: Parameters<QueueOperation>) => Promise<JsonObject>;

const send: StatefulOperation = async (state, call, queue, input) => {
  const { moto, deduplication, timeScale } = state;
  checkFifoIds(queue, input);
  const earlier = deduplication.find(queue, input);
  if (earlier) return { MD5OfMessageBody: md5(asText(input['MessageBody'])), ...earlier };
  const { DelaySeconds: delay, ...rest } = input;
  const scaledDelay = delay === undefined ? {} : { DelaySeconds: scaled(delay, timeScale) };
  const result = await moto.perform(call, 'SendMessage', { ...rest, ...scaledDelay });
  const { MessageId, SequenceNumber } = result;
  deduplication.remember(queue, input, {
    MessageId: asText(MessageId),
    ...(typeof SequenceNumber === 'string' && { SequenceNumber }),
  });
  return result;
};

/** moto has no timer that would tell of a delay or a visibility timeout that is over. */
const POLL_MILLISECONDS = 500;

const receive: StatefulOperation = async ({ moto, inFlight, changeOf }, call, queue, input) => {
  const { WaitTimeSeconds: wait = queue.waitSeconds, VisibilityTimeout: visibility } = input;
  const giveUpAt = Date.now() + Number(wait) * 1000;
  const seconds = Number(visibility ?? queue.visibilitySeconds);
  for (;;) {
    const result = await moto.perform(call, 'ReceiveMessage', { ...input, WaitTimeSeconds: 0 });
    const messages = isList(result['Messages']) ? result['Messages'].filter(isObject) : [];
    for (const { MessageId, ReceiptHandle } of messages) {
      inFlight.received(queue, asText(MessageId), asText(ReceiptHandle), seconds);
    }
    if (messages.length > 0 || Date.now() >= giveUpAt) return result;
    await changeOf(queue, Math.min(giveUpAt, Date.now() + POLL_MILLISECONDS), call.closed);
    // Nobody would get what is received now.
    if (call.closed.aborted) return {};
  }
};

const remove: StatefulOperation = async ({ moto, inFlight }, call, queue, input) => {
  const handle = asText(input['ReceiptHandle']);
  checkHandle(inFlight, queue, handle);
  const result = await moto.perform(call, 'DeleteMessage', input);
  inFlight.deleted(queue, handle);
  return result;
};

const changeVisibility: StatefulOperation = async (state, call, queue, input) => {
  const { moto, inFlight, timeScale } = state;
  const handle = asText(input['ReceiptHandle']);
  checkHandle(inFlight, queue, handle);
  const VisibilityTimeout = scaled(input['VisibilityTimeout'], timeScale);
  const changed = { ...input, VisibilityTimeout };
  const result = await moto.perform(call, 'ChangeMessageVisibility', changed);
  inFlight.changed(queue, handle, VisibilityTimeout);
  return result;
};

/** SQS knows whole seconds only. */
const scaled = (seconds: unknown, timeScale: number): number =>
  Math.ceil(Number(seconds) / timeScale);

/** AWS takes only the handle of the last receive on a FIFO queue, and only in time; moto takes all it ever gave out. */
function checkHandle(inFlight: InFlight, queue: QueueModel, handle: string): void {
  if (!queue.fifo || inFlight.isCurrent(queue, handle)) return;
  throw invalid(
    `Value ${handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.`,
  );
}

/** What may be in the id of a message group, and in that of a message: moto takes anything. */
const fifoId = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;

function checkFifoIds(queue: QueueModel, input: JsonObject): void {
  for (const name of ['MessageGroupId', 'MessageDeduplicationId']) {
    const id = input[name];
    if (id === undefined || (typeof id === 'string' && fifoId.test(id))) continue;
    throw invalid(
      `${name} of queue ${queue.name} can only include alphanumeric and punctuation characters. 1 to 128 in length`,
    );
  }
}

const invalid = (message: string): ServiceError =>
  new ServiceError('com.amazonaws.sqs#InvalidParameterValueException', message);

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
