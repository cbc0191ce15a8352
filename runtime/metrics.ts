/**
 * Every metric of the project, declared once: the local run serves them at /metrics, the deployed one writes
 * them as embedded metrics. Counters that exist before the first failure make graphs and alarms that work.
 */
export const metricDefinitions = {
  podless_reconcile_total: counter('Reconciles by outcome', ['operator', 'outcome']),
  podless_reconcile_seconds: histogram('Duration of a reconcile', ['operator']),
  podless_requeue_chain_stopped_total: counter('Requeue chains ended by the hop limit', [
    'operator',
  ]),
  podless_status_writes_total: counter('Status writes to the API server', ['operator']),
  podless_watch_connects_total: counter('Watch streams opened', ['cluster', 'kind']),
  podless_watch_reconnects_total: counter('Watch streams reopened, by cause', [
    'cluster',
    'kind',
    'cause',
  ]),
  podless_watch_gone_total: counter('410 Gone answers to a watch or list', ['cluster', 'kind']),
  podless_watch_relists_total: counter('Full lists made by the watcher', ['cluster', 'kind']),
  podless_watch_forwarded_total: counter('Changes put on the bus', ['cluster', 'kind', 'reason']),
  podless_watch_suppressed_total: counter('Changes that need no reconcile', ['cluster', 'kind']),
  podless_watch_rejected_total: counter('Objects or lines that could not be read', [
    'cluster',
    'kind',
    'cause',
  ]),
  podless_resync_sent_total: counter('Objects sent by resync', ['cluster', 'kind']),
  podless_function_invocations_total: counter('Function runs by result', ['function', 'result']),
} as const satisfies Record<string, MetricDefinition>;

export interface MetricDefinition {
  readonly type: 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

export type MetricName = keyof typeof metricDefinitions;
export type MetricLabels = Readonly<Record<string, string>>;

export interface Metrics {
  /** Adds to a counter. `value` defaults to 1; 0 makes the series exist. */
  count(name: MetricName, labels: MetricLabels, value?: number): void;
  /** Records one observation of a histogram. */
  observe(name: MetricName, labels: MetricLabels, value: number): void;
}

/** The same metrics, with labels that every one of them has. */
export const withLabels = (metrics: Metrics, common: MetricLabels): Metrics => ({
  count: (name, labels, value) => metrics.count(name, { ...common, ...labels }, value),
  observe: (name, labels, value) => metrics.observe(name, { ...common, ...labels }, value),
});

function counter(help: string, labels: readonly string[]): MetricDefinition {
  return { type: 'counter', help, labels };
}

function histogram(help: string, labels: readonly string[]): MetricDefinition {
  return { type: 'histogram', help, labels };
}
