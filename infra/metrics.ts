import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { METRIC_NAMESPACE } from '../runtime/aws/embedded-metrics.ts';
import type { MetricName } from '../runtime/metrics.ts';
import type { AlarmMetric } from './alarm.ts';

type LambdaMetric =
  | 'Invocations'
  | 'Errors'
  | 'Throttles'
  | 'RecursiveInvocationsDropped'
  | 'DestinationDeliveryFailures';

export const lambdaMetric = (functionName: string, metricName: LambdaMetric): AlarmMetric => ({
  namespace: 'AWS/Lambda',
  metricName,
  dimensions: { FunctionName: functionName },
  statistic: 'Sum',
});

export const queueMetric = (
  { queueName }: Queue,
  metricName: 'ApproximateNumberOfMessagesVisible' | 'ApproximateAgeOfOldestMessage',
): AlarmMetric => ({
  namespace: 'AWS/SQS',
  metricName,
  dimensions: { QueueName: queueName },
  statistic: 'Maximum',
});

export const schedulerMetric = (
  group: string,
  metricName: 'TargetErrorCount' | 'InvocationsFailedToBeSentToDeadLetterCount',
): AlarmMetric => ({
  namespace: 'AWS/Scheduler',
  metricName,
  dimensions: { ScheduleGroup: group },
  statistic: 'Sum',
});

export const pipeMetric = (pipeName: string, metricName: 'ExecutionFailed'): AlarmMetric => ({
  namespace: 'AWS/EventBridge/Pipes',
  metricName,
  dimensions: { PipeName: pipeName },
  statistic: 'Sum',
});

export const ruleMetric = (
  rule: { readonly busName: string; readonly name: string },
  metricName: 'InvocationsFailedToBeSentToDlq',
): AlarmMetric => ({
  namespace: 'AWS/Events',
  metricName,
  dimensions: { EventBusName: rule.busName, RuleName: rule.name },
  statistic: 'Sum',
});

/** Written by our functions to their logs; the dimensions are the labels in runtime/metrics.ts. */
export const ownMetric = (
  metricName: MetricName,
  dimensions: Readonly<Record<string, string>>,
): AlarmMetric => ({ namespace: METRIC_NAMESPACE, metricName, dimensions, statistic: 'Sum' });
