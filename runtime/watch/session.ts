import type { Clock } from '../clock.ts';
import type { CursorStore, EventBus } from '../cloud.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type Cursor, createCursor } from './cursor.ts';
import { createRecovery, type Recovery } from './recovery.ts';
import type { WatchSettings } from './settings.ts';
import type { WatchSource } from './source.ts';
import { createTally, type Tally, type WatchCounts } from './tally.ts';

/** What all sources of one shift share. */
export interface WatchContext {
  readonly kube: KubeClient;
  readonly bus: EventBus;
  readonly cursors: CursorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly counts: WatchCounts;
  readonly settings: WatchSettings;
  /** Aborts when the shift is over; every wait ends then. */
  readonly signal: AbortSignal;
  /** When the signal will abort, in milliseconds since the epoch. */
  readonly shiftEnd: number;
}

/** One source in one shift. */
export interface WatchSession extends WatchContext {
  readonly source: WatchSource;
  readonly cursor: Cursor;
  readonly tally: Tally;
  readonly recovery: Recovery;
}

export function createSession(source: WatchSource, context: WatchContext): WatchSession {
  const { kind, labelSelector } = source;
  const log = context.log.with({ kind: kind.kind, ...(labelSelector && { labelSelector }) });
  return {
    ...context,
    log,
    source,
    cursor: createCursor(source.cursorKey, { ...context, log }),
    // By the operator's kind, also for children: each series costs money, and dozens of kinds may be children.
    tally: createTally(context.metrics, source.relistedKind, context.counts),
    recovery: createRecovery(context.settings),
  };
}
