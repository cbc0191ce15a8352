import { randomUUID } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import {
  checkBody,
  checkVisibility,
  type DeadLetter,
  type DeadLetterPolicy,
  type DeadLetterTarget,
  type MessageQueue,
  type QueueDepth,
  type ReceivedMessage,
} from './queue.ts';
import { Timetable } from './timetable.ts';
import { createWakeup, type Wakeup } from './wakeup.ts';

/** A message in a queue. Only the store changes it. */
export interface StoredMessage extends DeadLetter {
  /** When it could first be delivered. */
  readonly availableAt: number;
  receiveCount: number;
  firstReceivedAt: number;
  receiptHandle: string;
  state: 'visible' | 'delayed' | 'inFlight' | 'gone';
}

export interface MessageStoreOptions {
  readonly clock: Clock;
  readonly deadLetters?: DeadLetterPolicy;
  /** A standard queue takes the newest handle of a message that has become visible again; a FIFO queue does not. */
  readonly handleOutlivesVisibility: boolean;
  /** `message` can be delivered: it is new (`receiveCount` 0), or its visibility timeout has passed. */
  readonly onVisible: (message: StoredMessage) => void;
  /** `message` was in flight and will not come back. */
  readonly onSettled: (message: StoredMessage) => void;
}

/** What both kinds of queue share: everything but the order in which visible messages are delivered. */
export class MessageStore {
  readonly #options: MessageStoreOptions;
  readonly #clock: Clock;
  readonly #messages = new Set<StoredMessage>();
  readonly #byHandle = new Map<string, StoredMessage>();
  /** Delayed or in flight, by the time they become visible. */
  readonly #hidden = new Timetable<StoredMessage>();
  readonly #wakeup: Wakeup;

  constructor(options: MessageStoreOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#wakeup = createWakeup(options.clock);
  }

  add(letter: DeadLetter, delaySeconds = 0): void {
    checkBody(letter.body);
    const message = createMessage(letter, this.#clock.now() + delaySeconds * 1000);
    this.#messages.add(message);
    if (delaySeconds === 0) this.#show(message);
    else this.#hidden.set(message, message.availableAt);
    this.#wakeup.notify();
  }

  /** Makes what is due visible. Call it before looking for visible messages. */
  catchUp(): void {
    const now = this.#clock.now();
    for (let due = this.#hidden.takeDue(now); due; due = this.#hidden.takeDue(now)) this.#show(due);
  }

  deliver(message: StoredMessage, visibilitySeconds: number): ReceivedMessage {
    this.#byHandle.delete(message.receiptHandle);
    markDelivered(message, this.#clock.now());
    this.#byHandle.set(message.receiptHandle, message);
    this.#hidden.set(message, this.#clock.now() + visibilitySeconds * 1000);
    return toReceived(message);
  }

  delete(receiptHandle: string): void {
    this.catchUp();
    const message = this.#byHandle.get(receiptHandle);
    if (message === undefined) return;
    this.#settle(message);
    this.#wakeup.notify();
  }

  changeVisibility(receiptHandle: string, seconds: number): void {
    checkVisibility(seconds);
    this.catchUp();
    const message = this.#byHandle.get(receiptHandle);
    if (message?.state !== 'inFlight') throw notInFlight(receiptHandle);
    this.#hidden.set(message, this.#clock.now() + seconds * 1000);
    this.catchUp();
    this.#wakeup.notify();
  }

  depth(): QueueDepth {
    this.catchUp();
    return measure(this.#messages, this.#clock.now());
  }

  /** Resolves once `isReady` holds, or `signal` aborts. */
  async waitUntil(isReady: () => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      this.catchUp();
      if (signal.aborted || isReady()) return;
      await this.#wakeup.wait(signal, this.#hidden.nextDueAt());
    }
  }

  #show(message: StoredMessage): void {
    const { deadLetters, handleOutlivesVisibility, onVisible } = this.#options;
    if (deadLetters && message.receiveCount >= deadLetters.maxReceives) {
      this.#settle(message);
      deadLetters.queue.acceptDeadLetter(message);
      return;
    }
    if (!handleOutlivesVisibility) this.#byHandle.delete(message.receiptHandle);
    message.state = 'visible';
    onVisible(message);
  }

  #settle(message: StoredMessage): void {
    const wasInFlight = message.state === 'inFlight';
    message.state = 'gone';
    this.#messages.delete(message);
    this.#byHandle.delete(message.receiptHandle);
    this.#hidden.remove(message);
    if (wasInFlight) this.#options.onSettled(message);
  }
}

/** The operations of a queue that do not depend on its order. */
export const operationsOf = (store: MessageStore): QueueOperations => ({
  delete: async (receiptHandle) => store.delete(receiptHandle),
  changeVisibility: async (receiptHandle, seconds) =>
    store.changeVisibility(receiptHandle, seconds),
  depth: async () => store.depth(),
  // A FIFO queue does not deduplicate here: a message that was given up must never vanish.
  acceptDeadLetter: (letter) => store.add(letter),
});

type QueueOperations = Pick<MessageQueue, 'delete' | 'changeVisibility' | 'depth'> &
  DeadLetterTarget;

const createMessage = (letter: DeadLetter, availableAt: number): StoredMessage => ({
  messageId: letter.messageId,
  body: letter.body,
  sentAt: letter.sentAt,
  ...(letter.fifo && { fifo: letter.fifo }),
  availableAt,
  receiveCount: 0,
  firstReceivedAt: 0,
  receiptHandle: '',
  state: 'delayed',
});

function markDelivered(message: StoredMessage, now: number): void {
  message.receiveCount += 1;
  message.receiptHandle = randomUUID();
  message.state = 'inFlight';
  if (message.receiveCount === 1) message.firstReceivedAt = now;
}

const toReceived = (message: StoredMessage): ReceivedMessage => ({
  messageId: message.messageId,
  receiptHandle: message.receiptHandle,
  body: message.body,
  receiveCount: message.receiveCount,
  sentAt: message.sentAt,
  firstReceivedAt: message.firstReceivedAt,
  ...(message.fifo && { fifo: message.fifo }),
});

function measure(messages: Iterable<StoredMessage>, now: number): QueueDepth {
  const counts = { visible: 0, inFlight: 0, delayed: 0, gone: 0 };
  let oldest = now;
  for (const message of messages) {
    counts[message.state] += 1;
    if (message.state !== 'delayed') oldest = Math.min(oldest, message.availableAt);
  }
  const { visible, inFlight, delayed } = counts;
  return { visible, inFlight, delayed, oldestAgeSeconds: (now - oldest) / 1000 };
}

function notInFlight(receiptHandle: string): Error {
  const error = new Error(
    `message is not in flight: receipt handle ${receiptHandle} has expired or its message was deleted`,
  );
  error.name = 'MessageNotInflight';
  return error;
}
