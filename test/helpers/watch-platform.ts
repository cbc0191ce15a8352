import type { Clock } from '../../runtime/clock.ts';
import type { DelayedHint } from '../../runtime/cloud.ts';
import type { Hint } from '../../runtime/hint.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createLog, type LogLine } from '../../runtime/log.ts';
import type { MetricLabels, MetricName } from '../../runtime/metrics.ts';
import type { InvocationContext, Platform } from '../../runtime/platform.ts';

export { widgetOperator as operator } from './runtime-widget.ts';

/** A platform that remembers: the bus, the cursors, the inboxes, the log and the metrics are plain data. */
export function createMemoryPlatform(kube: KubeClient, clock: Clock) {
  const bus: Hint[] = [];
  const cursors = new Map<string, string>();
  const inboxes = new Map<string, DelayedHint[]>();
  const lines: LogLine[] = [];
  const counters = new Map<string, number>();
  const state = {
    bus,
    cursors,
    inboxes,
    lines,
    /** Called before the bus takes hints; may throw. */
    beforePut: undefined as ((hints: readonly Hint[]) => void | Promise<void>) | undefined,
    cursorWrites: 0,
    counter: (name: MetricName, labels: MetricLabels) =>
      counters.get(seriesOf(name, { cluster: 'main', ...labels })) ?? 0,
    names: () => bus.map((hint) => `${hint.name}:${hint.reason}`),
    platform: undefined as unknown as Platform,
  };
  state.platform = {
    clusters: ['main'],
    kube: () => kube,
    kubeConnection: () => Promise.reject(new Error('nobody runs a program here')),
    bus: {
      async put(hints) {
        await state.beforePut?.(hints);
        bus.push(...hints);
      },
    },
    inbox: (name) => ({
      async send(hints) {
        inboxes.set(name, [...(inboxes.get(name) ?? []), ...hints]);
      },
    }),
    workQueue: () => ({ retryAfter: async () => undefined }),
    cursors: {
      read: async (key) => cursors.get(key),
      async write(key, resourceVersion) {
        state.cursorWrites += 1;
        cursors.set(key, resourceVersion);
      },
      async clear(key) {
        cursors.delete(key);
      },
    },
    log: createLog((line) => lines.push(line), 'debug'),
    metrics: {
      count(name, labels, value = 1) {
        const series = seriesOf(name, labels);
        counters.set(series, (counters.get(series) ?? 0) + value);
      },
      observe: () => undefined,
    },
    clock,
    environment: {},
  };
  return state;
}

export function createInvocation(clock: Clock, seconds: number): InvocationContext {
  const end = clock.now() + seconds * 1000;
  return {
    awsRequestId: 'request-1',
    functionName: 'podless-test',
    getRemainingTimeInMillis: () => end - clock.now(),
  };
}

const seriesOf = (name: string, labels: MetricLabels): string =>
  `${name}${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b)))}`;
