import { watcherSettings } from '../functions/watcher/settings.ts';
import type { Operator } from '../runtime/operator.ts';
import type { AlarmSpec } from './alarm.ts';
import { lambdaMetric, ownMetric } from './metrics.ts';
import type { Watcher } from './watcher.ts';

/**
 * One shift may be late or lost; more in a row mean that changes are found by resync only. A shift is counted when it ends,
 * which falls now into one period and now into the next: three without any are none by chance.
 */
const SHIFTS = { periodMinutes: watcherSettings.periodSeconds / 60, periods: 3 };

/** A watcher that does not watch makes no error by itself: its silence must be noticed. */
export function watcherAlarms(
  { cluster, functionName, scheduleName }: Watcher,
  operators: readonly Operator[],
): readonly AlarmSpec[] {
  const late = `Changes in cluster ${cluster} are noticed only by resync, minutes late.`;
  const silent: AlarmSpec = {
    name: `${functionName}-silent`,
    meaning: `No shift of ${functionName} has started. ${late}`,
    remedy: `See that schedule ${scheduleName} in group podless is enabled, and look into the queue podless-failed-invocations.`,
    metric: lambdaMetric(functionName, 'Invocations'),
    threshold: { below: 1 },
    ...SHIFTS,
  };
  const blind = operators.map(
    ({ name, kind }): AlarmSpec => ({
      name: `${functionName}-blind-${name}`,
      meaning: `No watch on ${kind.kind} could be opened in cluster ${cluster}. ${late}`,
      remedy: `Read aws logs tail /aws/lambda/${functionName} --since 30m. Usual causes: crds not applied (kubectl apply -k crds), no access entry for the role, API not reachable from the functions.`,
      metric: ownMetric('podless_watch_connects_total', { cluster, kind: kind.kind }),
      threshold: { below: 1 },
      ...SHIFTS,
    }),
  );
  return [silent, ...blind];
}
