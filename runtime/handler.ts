import { randomUUID } from 'node:crypto';
import { createDeadline, type Deadline } from './deadline.ts';
import type { ObjectRef } from './kube/objects.ts';
import type { Log } from './log.ts';
import type { Operator } from './operator.ts';
import { classify } from './outcome.ts';
import type { Handler, Platform } from './platform.ts';
import type { Preview } from './preview.ts';
import type { Reconciler } from './reconcile.ts';
import { type Report, reconcileObject } from './reconcile-loop.ts';
import { parseByHand, parseHint, type ReconcileRequest } from './request.ts';
import { planRequeue } from './requeue.ts';
import { isSqsEvent, processBatch } from './sqs-batch.ts';
import { isRecord } from './untrusted.ts';

/** What `aws lambda invoke` prints. */
interface Answer {
  readonly outcome: string;
  readonly reason: string;
  readonly object: {
    readonly cluster: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
  };
  readonly dryRun: boolean;
  readonly conditions: readonly unknown[];
  readonly status: object;
  readonly plan?: readonly unknown[];
  readonly requeueAfterSeconds?: number;
}

/** The Lambda handler of an operator: takes SQS batches, an EventBridge event, and a payload given by hand. */
export function createReconcileHandler(
  operator: Operator,
  reconciler: Reconciler,
  platform: Platform,
): Handler {
  const log = platform.log.with({ operator: operator.name });
  let isFirst = true;
  const prepare = (preview: Preview, signal: AbortSignal): void => {
    if (isFirst) reconciler.prepare?.(preview, signal);
    isFirst = false;
  };
  return async (event, context) => {
    const deadline = createDeadline(context, platform.clock.now());
    const ownLog = log.with({ requestId: context.awsRequestId });
    try {
      const shared = { operator, reconciler, platform, prepare };
      return await handleEvent(event, { ...shared, log: ownLog, deadline });
    } finally {
      deadline.clear();
    }
  };
}

async function handleEvent(event: unknown, invocation: Invocation): Promise<unknown> {
  const { operator, platform, log } = invocation;
  if (isSqsEvent(event)) {
    return processBatch(event, {
      handle: async (body) =>
        throwIfFailed(await handleRequest(parseHint(body, operator), invocation)),
      workQueue: platform.workQueue(operator.name),
      remainingMilliseconds: () => invocation.deadline.at - platform.clock.now(),
      log,
    });
  }
  const fromBus = isRecord(event) && 'detail-type' in event;
  const request = fromBus ? parseHint(event['detail'], operator) : parseByHand(event);
  return answer(request, throwIfFailed(await handleRequest(request, invocation)), invocation);
}

interface Invocation {
  readonly operator: Operator;
  readonly reconciler: Reconciler;
  readonly platform: Platform;
  readonly prepare: (preview: Preview, signal: AbortSignal) => void;
  readonly log: Log;
  readonly deadline: Deadline;
}

async function handleRequest(request: ReconcileRequest, invocation: Invocation): Promise<Report> {
  const { operator, platform } = invocation;
  const cluster = clusterOf(request, platform);
  const { namespace, name, reason, dryRun, preview = {} } = request;
  invocation.prepare(preview, invocation.deadline.signal);
  const ref: ObjectRef = { kind: operator.kind, namespace, name };
  const runId = randomUUID();
  const object = { kind: operator.kind.kind, namespace, name };
  const log = invocation.log.with({ cluster, object, reconcileId: runId });
  const kube = platform.kube(cluster);
  const started = platform.clock.now();
  const report = await reconcileObject(ref, {
    ...invocation,
    cluster,
    kube,
    log,
    runId,
    dryRun,
  }).catch(unreachable);
  const requeue = dryRun
    ? undefined
    : await sendRequeue(report, { request, runId, cluster, invocation });
  const durationMs = platform.clock.now() - started;
  platform.metrics.count('podless_reconcile_total', {
    operator: operator.name,
    outcome: report.outcome,
  });
  platform.metrics.observe(
    'podless_reconcile_seconds',
    { operator: operator.name },
    durationMs / 1000,
  );
  const level = report.outcome === 'error' || report.outcome === 'retry' ? 'error' : 'info';
  log[level]('reconcile finished', {
    outcome: report.outcome,
    reason: report.reason,
    trigger: reason,
    generation: report.object?.metadata.generation,
    changed: report.changed,
    durationMs,
    ...(dryRun && { dryRun }),
    ...(requeue !== undefined && { requeueAfterSeconds: requeue }),
  });
  return report;
}

/** The object could not even be read, or its status not be written. */
const unreachable = (error: unknown): Report => ({
  outcome: classify(error) === 'error' ? 'error' : 'retry',
  reason: error instanceof Error ? error.message : String(error),
  changed: false,
  error,
});

interface RequeueProps {
  readonly request: ReconcileRequest;
  readonly runId: string;
  readonly cluster: string;
  readonly invocation: Invocation;
}

/** Seconds until the object comes back. Sent before the message at hand is acknowledged, so the chain cannot break. */
async function sendRequeue(report: Report, props: RequeueProps): Promise<number | undefined> {
  const { operator, platform, log } = props.invocation;
  const requeue = planRequeue(report, { ...props, operator, now: platform.clock.now() });
  if (requeue === 'stopped') {
    log.error('requeue chain stopped', { reason: report.reason });
    platform.metrics.count('podless_requeue_chain_stopped_total', { operator: operator.name });
    return undefined;
  }
  if (requeue) await platform.inbox(operator.name).send([requeue]);
  return requeue?.delaySeconds;
}

function clusterOf({ cluster }: ReconcileRequest, { clusters }: Platform): string {
  const chosen = cluster ?? clusters[0];
  if (chosen !== undefined && clusters.includes(chosen)) return chosen;
  throw new Error(`cluster must be one of ${clusters.join(', ')}, got ${String(chosen)}`);
}

/** These go back to the queue; by hand they are the function's error. */
function throwIfFailed(report: Report): Report {
  if (report.outcome === 'retry' || report.outcome === 'error') throw report.error;
  return report;
}

function answer(
  request: ReconcileRequest,
  report: Report,
  { operator, platform }: Invocation,
): Answer {
  const { namespace, name, dryRun } = request;
  const { conditions = [], ...status } = report.object?.status ?? {};
  return {
    outcome: report.outcome,
    reason: report.reason,
    object: { cluster: clusterOf(request, platform), kind: operator.kind.kind, namespace, name },
    dryRun,
    conditions,
    status,
    ...(report.plan && { plan: report.plan }),
    ...(report.requeue && !dryRun && { requeueAfterSeconds: report.requeue.afterSeconds }),
  };
}
