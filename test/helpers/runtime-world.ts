import { createCursorStore } from '../../local/cloud/cursor-store.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { DelayedHint, Inbox } from '../../runtime/cloud.ts';
import { createReconcileHandler } from '../../runtime/handler.ts';
import { createHint } from '../../runtime/hint.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { Condition } from '../../runtime/kube/objects.ts';
import { createLog, type LogLine } from '../../runtime/log.ts';
import type { Operator } from '../../runtime/operator.ts';
import type { InvocationContext, Platform } from '../../runtime/platform.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';

export interface WorldOptions {
  readonly operator: Operator;
  readonly kube: KubeClient;
  readonly reconciler: Reconciler;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** How long a run may take. Default 60. */
  readonly seconds?: number;
  /** May make sending fail. Default: it does not. */
  readonly wrapInbox?: (inbox: Inbox) => Inbox;
}

/** What `aws lambda invoke` gets. */
export interface Answer {
  readonly outcome: string;
  readonly reason: string;
  readonly object: object;
  readonly dryRun: boolean;
  readonly conditions: readonly Condition[];
  readonly status: Readonly<Record<string, unknown>>;
  readonly plan?: readonly object[];
  readonly requeueAfterSeconds?: number;
}

export interface BatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** An operator's handler on a real or fake API server; the cloud around it is plain data to look at. */
export function createWorld(options: WorldOptions) {
  const { operator, kube, reconciler, clock = systemClock, seconds = 60 } = options;
  const { wrapInbox = (port: Inbox) => port } = options;
  const inbox: DelayedHint[] = [];
  const retries: { readonly receiptHandle: string; readonly seconds: number }[] = [];
  const lines: LogLine[] = [];
  const counters = new Map<string, number>();
  const platform: Platform = {
    clusters: ['main', 'other'],
    kube: () => kube,
    kubeConnection: () => Promise.reject(new Error('nobody runs a program here')),
    bus: { put: async () => undefined },
    inbox: () =>
      wrapInbox({
        send: async (hints) => {
          inbox.push(...hints);
        },
      }),
    workQueue: () => ({
      retryAfter: async (receiptHandle, after) => {
        retries.push({ receiptHandle, seconds: after });
      },
    }),
    cursors: createCursorStore(),
    log: createLog((line) => lines.push(line), 'debug'),
    metrics: {
      count: (name, labels, value = 1) => {
        const series = [name, ...Object.values(labels)].join(' ');
        counters.set(series, (counters.get(series) ?? 0) + value);
      },
      observe: () => undefined,
    },
    clock,
    environment: {},
  };
  const handler = createReconcileHandler(operator, reconciler, platform);
  const invoke = (event: unknown): Promise<unknown> => handler(event, invocationOf(clock, seconds));
  return {
    /** Hints sent to come back, and when. */
    inbox,
    /** Messages given back to the work queue. */
    retries,
    lines,
    counters,
    invoke,
    byHand: (name: string, extra: object = {}) => invoke({ name, ...extra }) as Promise<Answer>,
    batch: (...records: readonly object[]) => invoke({ Records: records }) as Promise<BatchAnswer>,
    /** The one line that tells how a reconcile went. */
    outcomes: () => lines.filter(({ message }) => message === 'reconcile finished'),
  };
}

/** The real time, but for what was slept or put forward: that passes at once. */
export function createTestClock(): Clock & { ahead: number } {
  const clock: Clock & { ahead: number } = {
    ahead: 0,
    now: () => systemClock.now() + clock.ahead,
    sleep: async (milliseconds) => {
      clock.ahead += milliseconds;
    },
  };
  return clock;
}

export type World = ReturnType<typeof createWorld>;

export function invocationOf(clock: Clock, seconds: number): InvocationContext {
  const end = clock.now() + seconds * 1000;
  return {
    awsRequestId: 'request-1',
    functionName: 'podless-test',
    getRemainingTimeInMillis: () => end - clock.now(),
  };
}

/** A message of the work queue about one object. */
export function recordOf(operator: Operator, name: string, hops?: number) {
  const subject = { cluster: 'main', kind: operator.kind, namespace: 'default', name };
  const hint = createHint(subject, 'Changed', 'test');
  return sqsRecord(
    JSON.stringify({ ...hint, ...(hops !== undefined && { hops }) }),
    name,
    hint.group,
  );
}

export const sqsRecord = (body: string, messageId: string, group = messageId, receives = 1) => ({
  messageId,
  receiptHandle: `receipt-${messageId}`,
  body,
  attributes: { MessageGroupId: group, ApproximateReceiveCount: String(receives) },
});
