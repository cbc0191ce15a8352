import { expect, test } from 'vitest';
import { createMetricsRegistry } from '../../local/cloud/metrics-registry.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

test('serves counters, histograms and the queues as they are now', async () => {
  const clock = createVirtualClock();
  const deadLetters = createStandardQueue({ clock });
  const queue = createStandardQueue({ clock, deadLetters: { queue: deadLetters, maxReceives: 1 } });
  const { metrics, text, contentType } = createMetricsRegistry([
    { name: 'inbox-x', queue, deadLetters },
  ]);
  metrics.count('podless_reconcile_total', { operator: 'x', outcome: 'done' });
  metrics.count('podless_reconcile_total', { operator: 'x', outcome: 'error' }, 0);
  metrics.observe('podless_reconcile_seconds', { operator: 'x' }, 0.2);
  await queue.send([{ body: 'a' }, { body: 'b' }, { body: 'c', delaySeconds: 900 }]);
  await queue.receive({ max: 1, visibilitySeconds: 5 });
  await clock.advance(4_000);

  expect(contentType).toMatch('text/plain');
  expect(await text()).toContain('podless_reconcile_total{operator="x",outcome="done"} 1\n');
  expect(await text()).toContain('podless_reconcile_total{operator="x",outcome="error"} 0\n');
  expect(await text()).toContain('podless_reconcile_seconds_bucket{le="0.25",operator="x"} 1\n');
  expect(await text()).toContain('podless_queue_messages{queue="inbox-x",state="visible"} 1\n');
  expect(await text()).toContain('podless_queue_messages{queue="inbox-x",state="in_flight"} 1\n');
  expect(await text()).toContain('podless_queue_messages{queue="inbox-x",state="delayed"} 1\n');
  expect(await text()).toContain('podless_queue_oldest_message_age_seconds{queue="inbox-x"} 4\n');
  expect(await text()).toContain('podless_dead_letters{queue="inbox-x"} 0\n');

  await clock.advance(1_000);
  expect(await text()).toContain('podless_dead_letters{queue="inbox-x"} 1\n');
  expect(await text()).toContain('podless_queue_messages{queue="inbox-x",state="in_flight"} 0\n');
});

test('two registries share nothing', async () => {
  const [one, other] = [createMetricsRegistry([]), createMetricsRegistry([])];
  one.metrics.count('podless_resync_sent_total', { kind: 'Job' });
  expect(await other.text()).not.toContain('kind="Job"');
});

test('fails on a metric of another type, and says where to look', () => {
  const { metrics } = createMetricsRegistry([]);
  expect(() => metrics.observe('podless_reconcile_total', {}, 1)).toThrow('runtime/metrics.ts');
});
