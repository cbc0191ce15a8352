import type { DelayedHint, Inbox } from '../../runtime/cloud.ts';
import { createHint } from '../../runtime/hint.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Operator } from '../../runtime/operator.ts';
import { describeUnreadable, readIdentity } from '../../runtime/watch/identity.ts';
import { listPages } from '../../runtime/watch/list-pages.ts';

const PAGE_SIZE = 500;

/** One pass over all objects of one kind. */
export interface Sweep {
  readonly cluster: string;
  readonly operator: Operator;
  readonly kube: KubeClient;
  readonly inbox: Inbox;
  /** The hints are spread over this time, so that fresh events go first. */
  readonly spreadSeconds: number;
  /** A run that is started again after a failure keeps it, so its hints are known as repeated. */
  readonly runId: string;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface KindCounts {
  readonly sent: number;
  /** Objects that could not be read. */
  readonly rejected: number;
  /** Why nothing was done, if nothing was. */
  readonly skipped?: string;
}

export async function sweepKind(sweep: Sweep): Promise<KindCounts> {
  const { kube, operator, inbox, metrics, signal } = sweep;
  const labels = { kind: operator.kind.kind };
  metrics.count('podless_resync_sent_total', labels, 0);
  let sent = 0;
  let rejected = 0;
  for await (const page of listPages(kube, operator.kind, { limit: PAGE_SIZE, signal })) {
    signal.throwIfAborted();
    const hints = page.items
      .map((item) => toHint(item, sweep))
      .filter((hint) => hint !== undefined);
    if (hints.length > 0) await inbox.send(hints);
    metrics.count('podless_resync_sent_total', labels, hints.length);
    sent += hints.length;
    rejected += page.items.length - hints.length;
  }
  return { sent, rejected };
}

function toHint(object: unknown, sweep: Sweep): DelayedHint | undefined {
  const { cluster, operator, metrics, log } = sweep;
  const identity = readIdentity(object);
  if (identity === undefined) {
    const labels = { kind: operator.kind.kind, cause: 'unparsable' };
    metrics.count('podless_watch_rejected_total', labels);
    log.error('object cannot be read', describeUnreadable(object));
    return undefined;
  }
  const subject = { cluster, kind: operator.kind, ...identity };
  return {
    hint: createHint(subject, 'Resync', `resync:${sweep.runId}`),
    delaySeconds: Math.floor(sweep.random() * (sweep.spreadSeconds + 1)),
  };
}
