import type { ItemKey } from './table.ts';

/** The keys of one pass between the reader of pages and the senders of batches. Holds about two pages at most. */
export interface KeyPool {
  /** Resolves when there is room for another page. */
  room(): Promise<void>;
  addPage(keys: readonly ItemKey[]): void;
  /** No more pages will come. */
  endOfPages(): void;
  /**
   * The next batch: full as long as pages come. Empty when every key of the pass is dealt with, or the pool is closed.
   * @param sizeNow asked again while it waits: the right size may be learnt meanwhile
   */
  take(sizeNow: () => number): Promise<readonly ItemKey[]>;
  /** A batch that was taken is dealt with, but for the keys given back. */
  settle(taken: readonly ItemKey[], unprocessed: readonly ItemKey[]): void;
  /** Lets everyone who waits go: `take` is empty from now on. */
  close(): void;
}

/** @param readAhead keys to have in store however small the pages are: large items make pages of two or three keys */
export function createKeyPool(readAhead: number): KeyPool {
  const queue = createQueue();
  let returned: ItemKey[] = [];
  let lastPageSize = 0;
  let outstanding = 0;
  let pagesEnded = false;
  let closed = false;
  let changed = Promise.withResolvers<void>();

  const announce = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const hasBatch = (size: number): boolean => {
    const waiting = returned.length + queue.length();
    return waiting >= size || (pagesEnded && (waiting > 0 || outstanding === 0));
  };

  return {
    async room() {
      while (!closed && queue.length() > Math.max(readAhead, lastPageSize)) await changed.promise;
    },
    addPage(keys) {
      lastPageSize = keys.length;
      queue.push(keys);
      announce();
    },
    endOfPages() {
      pagesEnded = true;
      announce();
    },
    async take(sizeNow) {
      while (!closed && !hasBatch(sizeNow())) await changed.promise;
      if (closed) return [];
      const size = sizeNow();
      const again = returned.slice(0, size);
      returned = returned.slice(size);
      const batch = again.concat(queue.take(size - again.length));
      outstanding += batch.length;
      announce();
      return batch;
    },
    settle(taken, unprocessed) {
      outstanding -= taken.length;
      returned = returned.concat(unprocessed);
      announce();
    },
    close() {
      closed = true;
      announce();
    },
  };
}

/** First in, first out over whole pages; an array's own `shift` would move a page's every key each time. */
function createQueue() {
  const pages: (readonly ItemKey[])[] = [];
  let offset = 0;
  let length = 0;
  return {
    length: () => length,
    push(page: readonly ItemKey[]): void {
      if (page.length === 0) return;
      pages.push(page);
      length += page.length;
    },
    take(size: number): ItemKey[] {
      const taken: ItemKey[] = [];
      for (let page = pages[0]; page && taken.length < size; page = pages[0]) {
        const part = page.slice(offset, offset + size - taken.length);
        taken.push(...part);
        offset += part.length;
        length -= part.length;
        if (offset < page.length) break;
        pages.shift();
        offset = 0;
      }
      return taken;
    },
  };
}
