import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IAlarmAction,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

/** A metric of AWS or of our own. */
export interface AlarmMetric {
  readonly namespace: string;
  readonly metricName: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: 'Sum' | 'Maximum';
}

/** Plain data: what to look at, when to call a person, and what to tell. */
export interface AlarmSpec {
  /** Never changed, since people refer to it. */
  readonly name: string;
  /** What has happened, and what follows from it. */
  readonly meaning: string;
  /** What a person should do. */
  readonly remedy: string;
  readonly metric: AlarmMetric;
  /** Alarms at this or more; `below` alarms at less. */
  readonly threshold: { readonly atLeast: number } | { readonly below: number };
  readonly periodMinutes: number;
  /** Periods in a row. */
  readonly periods: number;
}

/** Where less is bad, no data at all is bad too. */
export function createAlarm(scope: Construct, spec: AlarmSpec, action?: IAlarmAction): Alarm {
  const { name, meaning, remedy, metric, threshold, periodMinutes, periods } = spec;
  const below = 'below' in threshold;
  const alarm = new Alarm(scope, name, {
    alarmName: name,
    alarmDescription: `${meaning} ${remedy}`,
    metric: toMetric(metric, periodMinutes),
    threshold: below ? threshold.below : threshold.atLeast,
    comparisonOperator: below
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: periods,
    treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  });
  if (action) {
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
  return alarm;
}

export const toMetric = (
  { namespace, metricName, dimensions, statistic }: AlarmMetric,
  periodMinutes: number,
): Metric =>
  new Metric({
    namespace,
    metricName,
    dimensionsMap: { ...dimensions },
    statistic,
    period: Duration.minutes(periodMinutes),
  });
