/** The part of SQS the project depends on. `standard-queue.ts` and `fifo-queue.ts` have it in process. */

export interface FifoAttributes {
  /** Messages of one group are delivered in order, and never while another of them is in flight. */
  readonly group: string;
  /** The same id within five minutes is the same message. */
  readonly dedupId: string;
  /** Twenty digits, rising with each accepted message. */
  readonly sequenceNumber: string;
}

export interface ReceivedMessage {
  readonly messageId: string;
  /** Names this delivery; the next delivery of the message has another. */
  readonly receiptHandle: string;
  readonly body: string;
  /** Deliveries so far, this one included. */
  readonly receiveCount: number;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly firstReceivedAt: number;
  /** Set on messages of a FIFO queue. */
  readonly fifo?: FifoAttributes;
}

export interface ReceiveRequest {
  /** 1 to 10. */
  readonly max: number;
  /** How long the messages stay hidden from other receivers: 0 to 43,200. */
  readonly visibilitySeconds: number;
}

export interface QueueDepth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** Since it could first be delivered; a message still delayed has no age. 0 if there is none. */
  readonly oldestAgeSeconds: number;
}

export interface MessageQueue {
  /** What is there now, perhaps nothing; does not wait. */
  receive(request: ReceiveRequest): Promise<readonly ReceivedMessage[]>;
  /** The handle of an older delivery deletes nothing, nor does a handle that is unknown. */
  delete(receiptHandle: string): Promise<void>;
  /** Counts from now. 0 makes the message visible at once. Throws if the message is not in flight. */
  changeVisibility(receiptHandle: string, seconds: number): Promise<void>;
  depth(): Promise<QueueDepth>;
  /** Resolves as soon as there is something to receive, or `signal` aborts. */
  waitForMessages(signal: AbortSignal): Promise<void>;
}

export interface StandardMessage {
  readonly body: string;
  /** 0 to 900. Default 0. */
  readonly delaySeconds?: number;
}

export interface StandardQueue extends MessageQueue {
  /** Resolves with the message ids once every message is stored. */
  send(messages: readonly StandardMessage[]): Promise<readonly string[]>;
}

export interface FifoMessage {
  readonly body: string;
  readonly group: string;
  readonly dedupId: string;
}

export interface FifoQueue extends MessageQueue {
  /** As for a standard queue; a message that is a duplicate gets the id of the first one. */
  send(messages: readonly FifoMessage[]): Promise<readonly string[]>;
}

/** Takes what another queue has given up on. Both kinds of queue in process are one. */
export interface DeadLetterTarget {
  acceptDeadLetter(letter: DeadLetter): void;
}

export type DeadLetter = Pick<ReceivedMessage, 'messageId' | 'body' | 'sentAt' | 'fifo'>;

export interface DeadLetterPolicy {
  readonly queue: DeadLetterTarget;
  /** Deliveries after which a message is given up. */
  readonly maxReceives: number;
}

/** What SQS takes as group and deduplication id: 1 to 128 letters, digits or punctuation. */
export const isFifoId = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value);

/** SQS refuses larger bodies (1 MiB since 2026). */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_VISIBILITY_SECONDS = 43_200;

export function checkBody(body: string): void {
  const bytes = Buffer.byteLength(body);
  if (bytes === 0 || bytes > MAX_BODY_BYTES) {
    throw new RangeError(`message body must have 1 to ${MAX_BODY_BYTES} bytes, got ${bytes}`);
  }
}

export function checkReceive({ max, visibilitySeconds }: ReceiveRequest): void {
  checkRange('max', max, { from: 1, to: 10 });
  checkVisibility(visibilitySeconds);
}

export const checkVisibility = (seconds: number): void =>
  checkRange('visibility seconds', seconds, { from: 0, to: MAX_VISIBILITY_SECONDS });

export function checkRange(
  name: string,
  value: number,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  if (!Number.isInteger(value) || value < from || value > to) {
    throw new RangeError(`${name} must be a whole number from ${from} to ${to}, got ${value}`);
  }
}
