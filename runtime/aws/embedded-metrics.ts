import type { Clock } from '../clock.ts';
import { type MetricLabels, type MetricName, type Metrics, metricDefinitions } from '../metrics.ts';

export interface EmbeddedMetrics extends Metrics {
  /** Writes what came together since the last time, if anything did. */
  flush(): void;
}

export interface EmbeddedMetricsOptions {
  /** Takes one log line, as an object. */
  readonly write: (line: object) => void;
  readonly clock: Clock;
}

export const METRIC_NAMESPACE = 'Podless';

/** CloudWatch reads no more values of one metric in one line. */
const MAX_VALUES = 100;

/** All metrics with the same labels: they share a line. */
interface Series {
  readonly labels: MetricLabels;
  readonly values: Map<MetricName, number[]>;
}

/**
 * Metrics as log lines in CloudWatch's embedded metric format: no call, no client, and CloudWatch makes metrics of them.
 * The dimensions are the metric's labels. Counters are summed up here, so that a burst is one line.
 */
export function createEmbeddedMetrics({ write, clock }: EmbeddedMetricsOptions): EmbeddedMetrics {
  const pending = new Map<string, Series>();
  const valuesOf = (name: MetricName, labels: MetricLabels): number[] => {
    const key = JSON.stringify(Object.entries(labels).sort());
    const series = pending.get(key) ?? { labels, values: new Map<MetricName, number[]>() };
    pending.set(key, series);
    const values = series.values.get(name) ?? [];
    series.values.set(name, values);
    return values;
  };
  return {
    count(name, labels, value = 1) {
      if (!Number.isFinite(value)) return;
      const values = valuesOf(name, labels);
      values[0] = (values[0] ?? 0) + value;
    },
    observe(name, labels, value) {
      if (Number.isFinite(value)) valuesOf(name, labels).push(value);
    },
    flush() {
      const timestamp = clock.now();
      for (const series of pending.values()) {
        for (const line of linesOf(series, timestamp)) write(line);
      }
      pending.clear();
    },
  };
}

/** As many lines as its longest list of values needs. */
function linesOf({ labels, values }: Series, timestamp: number): readonly object[] {
  const longest = Math.max(...[...values.values()].map(({ length }) => length));
  return Array.from({ length: Math.ceil(longest / MAX_VALUES) }, (_, index) => {
    const start = index * MAX_VALUES;
    const part = [...values]
      .map(([name, all]) => [name, all.slice(start, start + MAX_VALUES)] as const)
      .filter(([, some]) => some.length > 0);
    return lineOf(labels, part, timestamp);
  });
}

function lineOf(
  labels: MetricLabels,
  metrics: readonly (readonly [MetricName, readonly number[]])[],
  timestamp: number,
): object {
  const directive = {
    Namespace: METRIC_NAMESPACE,
    Dimensions: [Object.keys(labels)],
    Metrics: metrics.map(([name]) => ({ Name: name, Unit: unitOf(name) })),
  };
  return {
    _aws: { Timestamp: timestamp, CloudWatchMetrics: [directive] },
    ...labels,
    ...Object.fromEntries(metrics.map(([name, all]) => [name, all.length === 1 ? all[0] : all])),
  };
}

const unitOf = (name: MetricName): string =>
  metricDefinitions[name].type === 'counter' ? 'Count' : 'Seconds';
