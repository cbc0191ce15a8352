import {
  type BatchLimits,
  createSizedQueue,
  type SizedKeys,
  type SizedQueue,
} from './sized-queue.ts';
import type { ItemKey } from './table.ts';

/** The keys of one pass between the readers of pages and the senders of batches. Holds about two pages per reader. */
export interface KeyPool {
  /** For one reader. Batches are drawn from the readers in turn, so that they reach different parts of the table. */
  addReader(): PageSink;
  /**
   * The next batch: full as long as pages come. Undefined when every key of the pass is dealt with, or the pool is closed.
   * @param limitsNow asked again while it waits: the right size may be learnt meanwhile
   */
  take(limitsNow: () => BatchLimits): Promise<KeyBatch | undefined>;
  /** A batch that was taken is dealt with, but for the keys given back: they go out with later ones. */
  settle(batch: KeyBatch, unprocessed: readonly ItemKey[]): void;
  /** Lets everyone who waits go: `take` gives nothing from now on. */
  close(): void;
}

export interface PageSink {
  /** Resolves when there is room for another page. */
  room(): Promise<void>;
  add(page: SizedKeys): void;
  /** No more pages will come from this reader. */
  end(): void;
}

export interface KeyBatch extends SizedKeys {
  readonly source: Source;
}

interface Source {
  readonly queue: SizedQueue;
  ended: boolean;
  lastPageSize: number;
}

/** @param readAhead keys to have in store however small the pages are: large items make pages of two or three keys */
export function createKeyPool(readAhead: number): KeyPool {
  const sources: Source[] = [];
  let outstanding = 0;
  let closed = false;
  let changed = Promise.withResolvers<void>();

  const announce = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const isDone = (): boolean =>
    outstanding === 0 &&
    sources.length > 0 &&
    sources.every(({ queue, ended }) => ended && queue.length() === 0);

  function draw(limitsNow: () => BatchLimits): KeyBatch | undefined {
    for (const source of sources) {
      if (source.queue.length() === 0) continue;
      const keys = source.queue.take(limitsNow(), source.ended);
      if (!keys) continue;
      // To the end of the line: the next batch comes from another reader.
      sources.push(...sources.splice(sources.indexOf(source), 1));
      return { ...keys, source };
    }
    return undefined;
  }

  return {
    addReader() {
      const source: Source = { queue: createSizedQueue(), ended: false, lastPageSize: 0 };
      sources.push(source);
      return {
        async room() {
          const isFull = () => source.queue.length() > Math.max(readAhead, source.lastPageSize);
          while (!closed && isFull()) await changed.promise;
        },
        add(page) {
          source.lastPageSize = page.keys.length;
          source.queue.push(page);
          announce();
        },
        end() {
          source.ended = true;
          announce();
        },
      };
    },
    async take(limitsNow) {
      while (!closed && !isDone()) {
        const batch = draw(limitsNow);
        if (batch) {
          outstanding += batch.keys.length;
          announce();
          return batch;
        }
        await changed.promise;
      }
      return undefined;
    },
    settle({ source, keys, units, most }, unprocessed) {
      outstanding -= keys.length;
      const share = unprocessed.length / keys.length;
      source.queue.giveBack({ keys: unprocessed, units: units * share, most });
      announce();
    },
    close() {
      closed = true;
      announce();
    },
  };
}
