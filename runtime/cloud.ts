import type { Hint } from './hint.ts';

/** Ports to the messaging services. `local/cloud` has them in process; the deployed system has them over AWS. */

export interface EventBus {
  /** Resolves once every hint was accepted; entries the bus refuses singly are sent again by the port. */
  put(hints: readonly Hint[], signal?: AbortSignal): Promise<void>;
}

export interface DelayedHint {
  readonly hint: Hint;
  /** 0 to MAX_DELAY_SECONDS. */
  readonly delaySeconds: number;
}

/** The standard queue in front of a kind's FIFO queue: it can delay, the FIFO queue cannot. */
export interface Inbox {
  /** Resolves once every hint is stored. */
  send(hints: readonly DelayedHint[]): Promise<void>;
}

/** The FIFO queue a reconciler is fed from. */
export interface WorkQueue {
  /** Makes a message visible again after `seconds` from now, instead of after the queue's own visibility timeout. */
  retryAfter(receiptHandle: string, seconds: number): Promise<void>;
}

/** Where the watcher keeps the resourceVersion up to which the bus has accepted everything. */
export interface CursorStore {
  read(key: string): Promise<string | undefined>;
  write(key: string, resourceVersion: string): Promise<void>;
  /** Forgets the cursor after a 410: the next start lists. */
  clear(key: string): Promise<void>;
}

/** Deliveries of a message to the Pipe before it is given up: one without a group can never be moved. */
export const INBOX_MAX_RECEIVES = 5;

/** SQS delays a message by 15 minutes at most. */
export const MAX_DELAY_SECONDS = 900;
