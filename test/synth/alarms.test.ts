import { describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { METRIC_NAMESPACE } from '../../runtime/aws/embedded-metrics.ts';
import { type MetricName, metricDefinitions } from '../../runtime/metrics.ts';
import { oneCluster, synthesize, twoClustersInVpc } from './synthesize.ts';
import {
  functionsOf,
  type Properties,
  propertiesOf,
  resourcesOf,
  targetOf,
  textOf,
} from './template-queries.ts';

interface Dimension {
  readonly Name: string;
  readonly Value: unknown;
}

const template = synthesize(twoClustersInVpc);
const alarms = propertiesOf(template, 'AWS::CloudWatch::Alarm');
const dimensionsOf = ({ Dimensions }: Properties) => Dimensions as readonly Dimension[];
const of = (namespace: string, metric: string) =>
  alarms.filter(({ Namespace, MetricName }) => Namespace === namespace && MetricName === metric);
/** Values of the only dimension. */
const watched = (namespace: string, metric: string) =>
  of(namespace, metric)
    .map((alarm) => textOf(dimensionsOf(alarm)[0]?.Value))
    .sort();

const reconcilers = operators.map(({ name }) => `podless-${name}`).sort();
const functions = [...functionsOf(template)].map(([name]) => name).sort();
const queues = resourcesOf(template, 'AWS::SQS::Queue');
const namesOfQueues = (pattern: RegExp) =>
  queues
    .map(([, { Properties }]) => String(Properties['QueueName']))
    .filter((name) => pattern.test(name))
    .sort();
/** Names of the queues with an alarm on that metric. */
const queueNames = (metric: string) =>
  of('AWS/SQS', metric)
    .map((alarm) => targetOf(dimensionsOf(alarm)[0]?.Value) ?? '')
    .map((id) => String(template.Resources[id]?.Properties['QueueName']))
    .sort();

const missingForThreeShifts = {
  ComparisonOperator: 'LessThanThreshold',
  Threshold: 1,
  Period: 600,
  EvaluationPeriods: 3,
  TreatMissingData: 'breaching',
};

describe('an alarm', () => {
  test('has a name of ours that no other has', () => {
    const names = alarms.map(({ AlarmName }) => AlarmName as string);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^podless-/);
  });

  test('says what it means and what to do', () => {
    for (const { AlarmDescription } of alarms) {
      const text = AlarmDescription as string;
      expect(text.split('. ').length).toBeGreaterThanOrEqual(2);
      expect(text.length).toBeLessThanOrEqual(1024);
    }
  });

  test('on a metric of ours names the dimensions that the metric has', () => {
    const own = alarms.filter(({ Namespace }) => Namespace === METRIC_NAMESPACE);
    expect(own.length).toBeGreaterThan(0);
    for (const alarm of own) {
      const { labels } = metricDefinitions[alarm['MetricName'] as MetricName];
      expect(
        dimensionsOf(alarm)
          .map(({ Name }) => Name)
          .sort(),
      ).toEqual([...labels].sort());
    }
  });

  test('tells the topic of its beginning and its end', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect([AlarmActions, OKActions]).toEqual([
        [twoClustersInVpc.alarmTopicArn],
        [twoClustersInVpc.alarmTopicArn],
      ]);
    }
  });

  test('tells nobody where no topic is given', () => {
    for (const alarm of propertiesOf(synthesize(oneCluster), 'AWS::CloudWatch::Alarm')) {
      expect(alarm).not.toHaveProperty('AlarmActions');
    }
  });
});

describe('there is an alarm on', () => {
  test('every queue for what failed, from the first message', () => {
    const metric = 'ApproximateNumberOfMessagesVisible';
    expect(queueNames(metric)).toEqual(namesOfQueues(/-dlq(\.fifo)?$|failed-invocations$/));
    for (const alarm of of('AWS/SQS', metric)) expect(alarm['Threshold']).toBe(1);
  });

  test('the age of messages in every other queue', () => {
    expect(queueNames('ApproximateAgeOfOldestMessage')).toEqual(
      namesOfQueues(/-(inbox|work\.fifo)$/),
    );
  });

  test.each(['Errors', 'Throttles', 'DestinationDeliveryFailures'])(
    '%s of every function',
    (metric) => {
      expect(watched('AWS/Lambda', metric)).toEqual(functions);
    },
  );

  test('chains that Lambda ends, for every reconciler', () => {
    expect(watched('AWS/Lambda', 'RecursiveInvocationsDropped')).toEqual(reconcilers);
  });

  test('the silence of each watcher: no shift for three periods, or no data', () => {
    const silent = of('AWS/Lambda', 'Invocations');
    expect(watched('AWS/Lambda', 'Invocations')).toEqual([
      'podless-watcher-prod',
      'podless-watcher-staging',
    ]);
    for (const alarm of silent) expect(alarm).toMatchObject(missingForThreeShifts);
  });

  test('each kind in each cluster of which no watch was opened', () => {
    const blind = of(METRIC_NAMESPACE, 'podless_watch_connects_total');
    expect(blind).toHaveLength(2 * operators.length);
    for (const alarm of blind) expect(alarm).toMatchObject(missingForThreeShifts);
  });

  test('schedules, Pipes and rules that fail', () => {
    expect(watched('AWS/EventBridge/Pipes', 'ExecutionFailed')).toEqual(reconcilers);
    expect(of('AWS/Scheduler', 'TargetErrorCount')).toHaveLength(1);
    expect(of('AWS/Scheduler', 'InvocationsFailedToBeSentToDeadLetterCount')).toHaveLength(1);
    expect(of('AWS/Events', 'InvocationsFailedToBeSentToDlq')).toHaveLength(operators.length);
  });
});

test('one dashboard shows every function and every queue', () => {
  const dashboards = propertiesOf(template, 'AWS::CloudWatch::Dashboard');
  expect(dashboards.map(({ DashboardName }) => textOf(DashboardName))).toEqual([
    'Podless-<AWS::Region>',
  ]);
  const body = JSON.stringify(dashboards);
  for (const name of functions) expect(body).toContain(name);
  for (const { name, kind } of operators) {
    expect(body).toContain(`${name} inbox`);
    expect(body).toContain(`Reconciles of ${kind.kind}`);
  }
});

test('an alarm that tells to change a declaration names the file it is in', () => {
  const remedyOf = (name: string) =>
    String(
      alarms.find(({ AlarmName }) => AlarmName === `podless-${name}-work-age`)?.[
        'AlarmDescription'
      ],
    );
  expect(remedyOf('goop')).toContain('functions/goop/operator.ts');
  expect(remedyOf('minimart')).toContain('functions/helm/operator.ts');
});
