import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type MetricName, type Metrics, metricDefinitions } from '../../runtime/metrics.ts';
import type { MessageQueue, QueueDepth } from './queue.ts';

export interface ObservedQueue {
  readonly name: string;
  readonly queue: MessageQueue;
  readonly deadLetters?: MessageQueue;
}

export interface MetricsRegistry {
  /** What functions count with. */
  readonly metrics: Metrics;
  readonly contentType: string;
  /** Prometheus' text format. Queues are measured now. */
  readonly text: () => Promise<string>;
}

/** From a reconcile that finds nothing to do up to a whole Lambda timeout. */
const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

export function createMetricsRegistry(queues: readonly ObservedQueue[]): MetricsRegistry {
  const registry = new Registry();
  addQueueGauges(registry, queues);
  return {
    metrics: createMetrics(registry),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function createMetrics(registry: Registry): Metrics {
  const counters = new Map<MetricName, Counter>();
  const histograms = new Map<MetricName, Histogram>();
  const names = Object.keys(metricDefinitions) as MetricName[];
  for (const name of names) {
    const { type, help, labels } = metricDefinitions[name];
    const configuration = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'counter') counters.set(name, new Counter(configuration));
    else histograms.set(name, new Histogram({ ...configuration, buckets }));
  }
  return {
    count: (name, labels, value = 1) => find(counters, name, 'counter').inc({ ...labels }, value),
    observe: (name, labels, value) =>
      find(histograms, name, 'histogram').observe({ ...labels }, value),
  };
}

function find<T>(known: ReadonlyMap<MetricName, T>, name: MetricName, type: string): T {
  const metric = known.get(name);
  if (metric) return metric;
  throw new Error(`metric ${name} must be declared as a ${type} in runtime/metrics.ts`);
}

function addQueueGauges(registry: Registry, queues: readonly ObservedQueue[]): void {
  const gauge = (name: string, help: string, collect: (this: Gauge) => Promise<void>) =>
    new Gauge({ name, help, labelNames: ['queue', 'state'], registers: [registry], collect });

  gauge('podless_queue_messages', 'Messages in a queue by state', async function () {
    for (const { name, queue } of queues) {
      for (const [state, count] of Object.entries(states(await queue.depth()))) {
        this.set({ queue: name, state }, count);
      }
    }
  });
  gauge('podless_queue_oldest_message_age_seconds', 'Age of the oldest message', async function () {
    for (const { name, queue } of queues) {
      this.set({ queue: name }, (await queue.depth()).oldestAgeSeconds);
    }
  });
  gauge('podless_dead_letters', 'Messages given up by a queue', async function () {
    for (const { name, deadLetters } of queues) {
      if (deadLetters) this.set({ queue: name }, total(await deadLetters.depth()));
    }
  });
}

const states = ({ visible, inFlight, delayed }: QueueDepth) => ({
  visible,
  in_flight: inFlight,
  delayed,
});

const total = ({ visible, inFlight, delayed }: QueueDepth): number => visible + inFlight + delayed;
