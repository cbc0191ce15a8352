import type { Clock } from '../clock.ts';
import type { CursorStore } from '../cloud.ts';
import { describeError, type Log } from '../log.ts';
import type { WatchSettings } from './settings.ts';
import { within } from './within.ts';

/** A slow store must not keep the watch from its work: the position is in memory too. */
const STORE_MILLISECONDS = 2000;

/** The resourceVersion up to which the bus has accepted everything. */
export interface Cursor {
  /** `undefined` if there is none, or none that can be used: then a list is needed. */
  readonly position: string | undefined;
  load(): Promise<void>;
  /** Call it only after the bus has accepted every event up to `resourceVersion`. Stored now and then. */
  moveTo(resourceVersion: string): Promise<void>;
  /** Stores the position, if it changed. */
  flush(): Promise<void>;
  forget(): Promise<void>;
}

export interface CursorProps {
  readonly cursors: CursorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<WatchSettings, 'cursorIntervalMilliseconds'>;
}

/**
 * A store that fails never stops the watch. Without a position it lists; a position not stored is a position stored
 * too early in time, and costs the next shift some repeated hints.
 */
export function createCursor(key: string, { cursors, clock, log, settings }: CursorProps): Cursor {
  let position: string | undefined;
  let stored: string | undefined;
  let nextWrite = 0;

  const attempt = async <T>(what: string, call: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await within(call(), { clock, milliseconds: STORE_MILLISECONDS });
    } catch (error) {
      log.error('cursor store failed', { operation: what, key, ...describeError(error) });
      return undefined;
    }
  };
  const flush = async () => {
    const target = position;
    if (target === undefined || target === stored) return;
    nextWrite = clock.now() + settings.cursorIntervalMilliseconds;
    await attempt('write', async () => {
      await cursors.write(key, target);
      stored = target;
    });
  };
  return {
    get position() {
      return position;
    },
    async load() {
      stored = (await attempt('read', () => cursors.read(key))) || undefined;
      position = stored;
    },
    async moveTo(resourceVersion) {
      position = resourceVersion;
      if (clock.now() >= nextWrite) await flush();
    },
    flush,
    async forget() {
      position = undefined;
      stored = undefined;
      await attempt('clear', () => cursors.clear(key));
    },
  };
}
