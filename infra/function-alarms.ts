import type { AlarmSpec } from './alarm.ts';
import type { OperatorFunction } from './function.ts';
import { lambdaMetric } from './metrics.ts';

/** What can go wrong with any function. A single failure is tried again, so only a run of them is told. */
export function functionAlarms({ functionName }: OperatorFunction): readonly AlarmSpec[] {
  const logs = `aws logs tail /aws/lambda/${functionName} --since 1h`;
  return [
    {
      name: `${functionName}-errors`,
      meaning: `Runs of ${functionName} keep ending in an error, a timeout or without memory.`,
      remedy: `Read ${logs}. Nothing is lost: it is tried again, and resync looks at everything.`,
      metric: lambdaMetric(functionName, 'Errors'),
      threshold: { atLeast: 1 },
      periodMinutes: 15,
      periods: 2,
    },
    {
      name: `${functionName}-throttles`,
      meaning: `Lambda keeps refusing to run ${functionName}: the account has no concurrency left.`,
      remedy: 'Find the function that uses it up, or ask for a higher quota in Service Quotas.',
      metric: lambdaMetric(functionName, 'Throttles'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 3,
    },
    {
      name: `${functionName}-failure-lost`,
      meaning: `A run of ${functionName} failed for good and not even its record could be stored.`,
      remedy: `The role of the function must be able to send to podless-failed-invocations. Read ${logs}.`,
      metric: lambdaMetric(functionName, 'DestinationDeliveryFailures'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 1,
    },
  ];
}
