import type { Metrics } from '../metrics.ts';
import type { Kind } from '../operator.ts';

/** What a watcher did in its shift, over all sources. */
export interface WatchCounts {
  forwarded: number;
  suppressed: number;
  relists: number;
  reconnects: number;
}

/** `oversized` and `malformed` are lines, the others objects; `bug` is an object our own code failed on. */
export type RejectCause = 'oversized' | 'malformed' | 'unparsable' | 'bug';

/** Counts what one source does, for the metrics and for the answer of the function. */
export interface Tally {
  connected(): void;
  reconnected(cause: string): void;
  gone(): void;
  relisted(): void;
  forwarded(reason: string): void;
  suppressed(): void;
  rejected(cause: RejectCause): void;
}

export function createTally(metrics: Metrics, kind: Kind, counts: WatchCounts): Tally {
  const labels = { kind: kind.kind };
  // Series that exist before the first failure make alarms that work.
  metrics.count('podless_watch_gone_total', labels, 0);
  metrics.count('podless_watch_relists_total', labels, 0);
  metrics.count('podless_watch_suppressed_total', labels, 0);
  return {
    connected: () => metrics.count('podless_watch_connects_total', labels),
    reconnected(cause) {
      counts.reconnects += 1;
      metrics.count('podless_watch_reconnects_total', { ...labels, cause });
    },
    gone: () => metrics.count('podless_watch_gone_total', labels),
    relisted() {
      counts.relists += 1;
      metrics.count('podless_watch_relists_total', labels);
    },
    forwarded(reason) {
      counts.forwarded += 1;
      metrics.count('podless_watch_forwarded_total', { ...labels, reason });
    },
    suppressed() {
      counts.suppressed += 1;
      metrics.count('podless_watch_suppressed_total', labels);
    },
    rejected: (cause) => metrics.count('podless_watch_rejected_total', { ...labels, cause }),
  };
}
