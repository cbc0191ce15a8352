import { MAX_DELAY_SECONDS } from './cloud.ts';
import { createHint, type Hint } from './hint.ts';
import type { Operator } from './operator.ts';
import type { Report } from './reconcile-loop.ts';
import type { ReconcileRequest } from './request.ts';

/** A world that is not ready is looked at again after 10, 20, 40, 80 and then every 120 seconds. */
const FIRST_WAIT_SECONDS = 10;
const MAX_WAIT_SECONDS = 120;
/** Lambda's own guard against endless chains is off, since long work is such a chain. A chain that changes nothing is none. */
const MAX_IDLE_HOPS = 100;

export interface PlannedRequeue {
  readonly hint: Hint;
  readonly delaySeconds: number;
}

export interface RequeueSource {
  readonly operator: Operator;
  readonly cluster: string;
  readonly request: ReconcileRequest;
  readonly runId: string;
  readonly now: number;
}

/** The message that brings the object back, or 'stopped' if it has come back too often for nothing. */
export function planRequeue(
  report: Report,
  source: RequeueSource,
): PlannedRequeue | 'stopped' | undefined {
  const { operator, cluster, request, runId, now } = source;
  const hops = report.changed ? 0 : request.hops + 1;
  const requeue = report.outcome === 'waiting' ? slowly(report.reason, hops) : report.requeue;
  if (!requeue) return undefined;
  const delaySeconds = Math.min(Math.max(Math.ceil(requeue.afterSeconds), 0), MAX_DELAY_SECONDS);
  if (delaySeconds === 0 && hops > MAX_IDLE_HOPS) return 'stopped';
  const { namespace, name } = request;
  const uid = report.object?.metadata.uid;
  const subject = {
    cluster,
    kind: operator.kind,
    namespace,
    name,
    ...(uid !== undefined && { uid }),
  };
  const hint = createHint(
    subject,
    `Requeue: ${requeue.reason}`,
    occasionOf(delaySeconds, runId, now),
  );
  return { hint: { ...hint, hops }, delaySeconds };
}

const slowly = (reason: string, hops: number) => ({
  afterSeconds: Math.min(FIRST_WAIT_SECONDS * 2 ** hops, MAX_WAIT_SECONDS),
  reason,
});

/**
 * Every resync and every run by hand of a waiting object starts a chain of requeues of its own. Messages that fall due in
 * the same span get the same deduplication id, so that the chains melt into one instead of adding up for ever.
 */
function occasionOf(delaySeconds: number, runId: string, now: number): string {
  if (delaySeconds === 0) return `requeue:${runId}`;
  const span = Math.floor((now / 1000 + delaySeconds) / delaySeconds);
  return `requeue:${delaySeconds}:${span}`;
}
