import { describe, expect, test } from 'vitest';
import { createEmbeddedMetrics } from '../../runtime/aws/embedded-metrics.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

interface Line extends Record<string, unknown> {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
}

function createMemory() {
  const clock = createVirtualClock();
  const lines: Line[] = [];
  const metrics = createEmbeddedMetrics({ write: (line) => lines.push(line as Line), clock });
  return { clock, lines, metrics };
}

const widget = { operator: 'widget' };

describe('embedded metrics', () => {
  test('are log lines as CloudWatch reads them: namespace, dimensions, units, values', () => {
    const { clock, lines, metrics } = createMemory();
    metrics.count('podless_reconcile_total', { ...widget, outcome: 'done' });
    metrics.flush();
    expect(lines).toEqual([
      {
        _aws: {
          Timestamp: clock.now(),
          CloudWatchMetrics: [
            {
              Namespace: 'Podless',
              Dimensions: [['operator', 'outcome']],
              Metrics: [{ Name: 'podless_reconcile_total', Unit: 'Count' }],
            },
          ],
        },
        operator: 'widget',
        outcome: 'done',
        podless_reconcile_total: 1,
      },
    ]);
  });

  test('sum up a counter and keep each value of a histogram', () => {
    const { lines, metrics } = createMemory();
    for (const seconds of [0.5, 0.1, 0.5]) {
      metrics.count('podless_status_writes_total', widget, 2);
      metrics.observe('podless_reconcile_seconds', widget, seconds);
    }
    metrics.flush();
    expect(lines).toMatchObject([
      { podless_status_writes_total: 6, podless_reconcile_seconds: [0.5, 0.1, 0.5] },
    ]);
    expect(lines[0]?._aws.CloudWatchMetrics[0]?.Metrics).toEqual([
      { Name: 'podless_status_writes_total', Unit: 'Count' },
      { Name: 'podless_reconcile_seconds', Unit: 'Seconds' },
    ]);
  });

  test('share a line where they share all labels, and only there', () => {
    const { lines, metrics } = createMemory();
    metrics.count('podless_watch_gone_total', { cluster: 'prod', kind: 'Widget' }, 0);
    metrics.count('podless_watch_relists_total', { cluster: 'prod', kind: 'Widget' });
    metrics.count('podless_watch_relists_total', { cluster: 'prod', kind: 'Gadget' });
    metrics.count('podless_watch_forwarded_total', {
      cluster: 'prod',
      kind: 'Widget',
      reason: 'New',
    });
    metrics.count('podless_watch_forwarded_total', {
      reason: 'New',
      kind: 'Widget',
      cluster: 'prod',
    });
    metrics.flush();
    expect(lines.map(({ _aws, ...values }) => values)).toEqual([
      {
        cluster: 'prod',
        kind: 'Widget',
        podless_watch_gone_total: 0,
        podless_watch_relists_total: 1,
      },
      { cluster: 'prod', kind: 'Gadget', podless_watch_relists_total: 1 },
      { cluster: 'prod', kind: 'Widget', reason: 'New', podless_watch_forwarded_total: 2 },
    ]);
  });

  test('never have more than a hundred values of one metric in a line, and lose none', () => {
    const { lines, metrics } = createMemory();
    metrics.count('podless_status_writes_total', widget);
    for (let index = 0; index < 250; index += 1) {
      metrics.observe('podless_reconcile_seconds', widget, index);
    }
    metrics.flush();
    const values = lines.map((line) => line['podless_reconcile_seconds'] as number[]);
    expect(values.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(new Set(values.flat()).size).toBe(250);
    expect(lines.filter((line) => 'podless_status_writes_total' in line)).toHaveLength(1);
    for (const line of lines) {
      const named = line._aws.CloudWatchMetrics[0]?.Metrics.map(({ Name }) => Name) ?? [];
      expect(named.every((name) => name in line)).toBe(true);
    }
  });

  test('are written once', () => {
    const { lines, metrics } = createMemory();
    metrics.flush();
    metrics.count('podless_status_writes_total', widget);
    metrics.flush();
    metrics.flush();
    metrics.count('podless_status_writes_total', widget);
    metrics.flush();
    expect(lines.map((line) => line['podless_status_writes_total'])).toEqual([1, 1]);
  });

  test('leave out what CloudWatch cannot read', () => {
    const { lines, metrics } = createMemory();
    metrics.observe('podless_reconcile_seconds', widget, Number.NaN);
    metrics.count('podless_status_writes_total', widget, Number.POSITIVE_INFINITY);
    metrics.flush();
    expect(lines).toEqual([]);
  });
});
