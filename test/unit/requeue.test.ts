import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { Report } from '../../runtime/reconcile-loop.ts';
import { type PlannedRequeue, planRequeue } from '../../runtime/requeue.ts';
import { widgetKind, widgetOperator } from '../helpers/runtime-widget.ts';

const object: KubeObject = {
  apiVersion: 'test.podless.dev/v1',
  kind: widgetKind.kind,
  metadata: { name: 'w', namespace: 'default', uid: 'u', resourceVersion: '1' },
};

const waiting: Report = { outcome: 'waiting', reason: 'no table', changed: false, object };

const requeue = (afterSeconds: number): Report => ({
  outcome: 'requeue',
  reason: 'later',
  changed: false,
  object,
  requeue: { afterSeconds, reason: 'later' },
});

const plan = (report: Report, { hops = 0, runId = 'run', now = 1_000_000 } = {}) =>
  planRequeue(report, {
    operator: widgetOperator,
    cluster: 'main',
    request: { namespace: 'default', name: 'w', reason: 'Changed', dryRun: false, hops },
    runId,
    now,
  });

const planned = (...call: Parameters<typeof plan>): PlannedRequeue => {
  const result = plan(...call);
  if (result === undefined || result === 'stopped') throw new Error('must be planned');
  return result;
};

describe('an object comes back', () => {
  test('not at all if nobody asked for it', () => {
    expect(plan({ outcome: 'done', reason: '', changed: true, object })).toBeUndefined();
    expect(plan({ outcome: 'terminal', reason: '', changed: true, object })).toBeUndefined();
  });

  test('after a terminal failure only if that asked for it', () => {
    expect(planned({ ...requeue(30), outcome: 'terminal' }).delaySeconds).toBe(30);
  });

  test.each([
    [-1, 0],
    [0, 0],
    [0.1, 1],
    [59.5, 60],
    [86_400, 900],
  ])('asked for after %d seconds, in %d', (asked, delay) => {
    expect(planned(requeue(asked)).delaySeconds).toBe(delay);
  });

  test('more and more slowly while the world is not ready, and soon again after a change', () => {
    const delays = [0, 1, 2, 3, 4, 500].map((hops) => planned(waiting, { hops }).delaySeconds);
    expect(delays).toEqual([20, 40, 80, 120, 120, 120]);
    expect(planned({ ...waiting, changed: true }, { hops: 500 }).delaySeconds).toBe(10);
  });

  test('for ever, if each run changes something or takes its time', () => {
    expect(planned({ ...requeue(0), changed: true }, { hops: 10_000 }).hint.hops).toBe(0);
    expect(planned(requeue(5), { hops: 10_000 }).hint.hops).toBe(10_001);
  });

  test('at once only a hundred times in a row for nothing', () => {
    expect(planned(requeue(0), { hops: 99 }).hint.hops).toBe(100);
    expect(plan(requeue(0), { hops: 100 })).toBe('stopped');
  });

  test('with a hint that names object, group and reason', () => {
    const { hint } = planned(requeue(5));
    expect(hint).toMatchObject({ cluster: 'main', name: 'w', uid: 'u', reason: 'Requeue: later' });
    expect(hint.group).toBe(planned(waiting, { now: 5 }).hint.group);
  });
});

describe('chains of requeues', () => {
  const seconds = (now: number) => now * 1000;
  const idAt = (after: number, now: number, runId = 'run') =>
    planned(requeue(after), { now: seconds(now), runId }).hint.dedupId;

  test('melt into one if they fall due in the same span', () => {
    expect(idAt(10, 101, 'one')).toBe(idAt(10, 108, 'other'));
    expect(idAt(10, 101)).not.toBe(idAt(10, 112));
  });

  test('do not melt if they come back at once, since each run has its own work', () => {
    expect(idAt(0, 101, 'one')).not.toBe(idAt(0, 101, 'other'));
  });

  test('never swallow their own next message, however late each is delivered', () => {
    const run = fc.record({
      after: fc.integer({ min: 1, max: 900 }),
      late: fc.double({ min: 0, max: 5, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.double({ min: 1e9, max: 2e9, noNaN: true }),
        fc.array(run, { minLength: 2, maxLength: 20 }),
        (start, runs) => {
          let now = start;
          const ids = runs.map(({ after, late }) => {
            const id = idAt(after, now);
            now += after + late;
            return id;
          });
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
    );
  });
});
