import type { CursorStore } from '../../runtime/cloud.ts';

/** Cursors that live as long as the process: a new local run starts with a list, which is right. */
export function createCursorStore(): CursorStore {
  const cursors = new Map<string, string>();
  return {
    read: async (key) => cursors.get(key),
    write: async (key, resourceVersion) => {
      cursors.set(key, resourceVersion);
    },
    clear: async (key) => {
      cursors.delete(key);
    },
  };
}
