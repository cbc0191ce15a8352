import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type AlarmSpec, createAlarm } from './alarm.ts';
import { createDashboard } from './dashboard.ts';
import { functionAlarms } from './function-alarms.ts';
import { schedulerMetric } from './metrics.ts';
import type { Reconciler } from './reconciler.ts';
import { deadLetterAlarm, reconcilerAlarms } from './reconciler-alarms.ts';
import type { Resync } from './resync.ts';
import type { Schedules } from './schedules.ts';
import type { Watcher } from './watcher.ts';
import { watcherAlarms } from './watcher-alarms.ts';

export interface ObservabilityProps {
  readonly watchers: readonly Watcher[];
  readonly resync: Resync;
  readonly reconcilers: readonly Reconciler[];
  readonly schedules: Schedules;
  readonly failedInvocations: Queue;
  /** Told of every alarm, and of its end. Default: nobody. */
  readonly topicArn?: string;
}

/** Alarms that say what they mean and what to do, and one dashboard. */
export class Observability extends Construct {
  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    const { watchers, resync, reconcilers, topicArn } = props;
    const operators = reconcilers.map(({ operator }) => operator);
    const functions = [...watchers, resync, ...reconcilers.map((one) => one.function)];
    const action: IAlarmAction | undefined =
      topicArn === undefined
        ? undefined
        : new SnsAction(Topic.fromTopicArn(this, 'Topic', topicArn));
    const specs = [
      ...functions.flatMap(functionAlarms),
      ...watchers.flatMap((watcher) => watcherAlarms(watcher, operators)),
      ...reconcilers.flatMap(reconcilerAlarms),
      ...startAlarms(props),
    ];
    const alarms = specs.map((spec) => createAlarm(this, spec, action));
    createDashboard(this, 'Dashboard', { watchers, functions, reconcilers, alarms });
  }
}

/** What should have been started and was not. */
function startAlarms({ schedules, failedInvocations }: ObservabilityProps): readonly AlarmSpec[] {
  return [
    deadLetterAlarm('podless-failed-invocations', failedInvocations, {
      meaning:
        'A shift of a watcher, a resync or a run by hand could not be started, or failed three times.',
      remedy:
        'The message says which function and why. The next shift and the next resync make up for it: purge the queue when the cause is gone.',
    }),
    {
      name: 'podless-schedules-failing',
      meaning: 'Schedules in the group podless keep failing to start their functions.',
      remedy: 'Look at the roles of the schedules, and at throttling of the functions.',
      metric: schedulerMetric(schedules.groupName, 'TargetErrorCount'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 3,
    },
    {
      name: 'podless-schedules-lost',
      meaning:
        'What a schedule could not start was not stored in podless-failed-invocations either.',
      remedy: 'The roles of the schedules must be able to send to that queue.',
      metric: schedulerMetric(schedules.groupName, 'InvocationsFailedToBeSentToDeadLetterCount'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 1,
    },
  ];
}
