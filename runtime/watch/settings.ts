import type { BackoffOptions } from './backoff.ts';

/** How patient a watch is. Tests make it impatient. */
export interface WatchSettings extends BackoffOptions {
  /** Objects a page of a list. */
  readonly pageSize: number;
  /** No byte for this long means the connection is dead, however open it looks. */
  readonly silenceMilliseconds: number;
  /** Longer lines are dropped. */
  readonly maxLineBytes: number;
  /** Events put on the bus together. */
  readonly maxBatch: number;
  /** The cursor is stored at most this often while events arrive. */
  readonly cursorIntervalMilliseconds: number;
  /** A stream that ends well after less than this is not reopened at once. */
  readonly shortLifeMilliseconds: number;
}

/** Bookmarks come once a minute where anything happens: after 75 s without a byte a new connection is due. */
export const defaultWatchSettings: Omit<WatchSettings, 'random'> = {
  pageSize: 500,
  silenceMilliseconds: 75_000,
  maxLineBytes: 8 * 1024 * 1024,
  maxBatch: 100,
  cursorIntervalMilliseconds: 2000,
  shortLifeMilliseconds: 1000,
  minimumMilliseconds: 500,
  maximumMilliseconds: 30_000,
};
