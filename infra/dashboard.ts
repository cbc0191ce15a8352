import { Aws, Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  PeriodOverride,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { outcomes } from '../runtime/outcome.ts';
import { type AlarmMetric, toMetric } from './alarm.ts';
import type { OperatorFunction } from './function.ts';
import { lambdaMetric, ownMetric, queueMetric } from './metrics.ts';
import type { Reconciler } from './reconciler.ts';
import type { Watcher } from './watcher.ts';

const PERIOD_MINUTES = 5;
/** Half of the dashboard, and a third. */
const WIDTH = 12;
const NARROW = 8;
/** A widget shows no more. */
const MAX_ALARMS = 100;

export interface DashboardProps {
  readonly watchers: readonly Watcher[];
  readonly functions: readonly OperatorFunction[];
  readonly reconcilers: readonly Reconciler[];
  readonly alarms: readonly Alarm[];
}

/** From top to bottom as a change travels: watch, queues, reconcile; what failed on the way beside it. */
export function createDashboard(scope: Construct, id: string, props: DashboardProps): Dashboard {
  const alarms = new AlarmStatusWidget({
    title: 'Alarms',
    width: 2 * WIDTH,
    alarms: props.alarms.slice(0, MAX_ALARMS),
  });
  return new Dashboard(scope, id, {
    // Dashboards are known by name in all regions of an account.
    dashboardName: `Podless-${Aws.REGION}`,
    defaultInterval: Duration.hours(6),
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      [alarms],
      [
        graph('Watch streams opened', watchStreams(props)),
        graph('Oldest message, seconds', props.reconcilers.flatMap(ages)),
      ],
      // One for each kind: all outcomes of all kinds in one would be too many lines to read.
      props.reconcilers.map(reconcileGraph),
      [
        graph('Messages given up', props.reconcilers.flatMap(deadLetters), NARROW),
        graph('Runs', props.functions.map(runs('Invocations')), NARROW),
        graph('Failed runs', props.functions.map(runs('Errors')), NARROW),
      ],
    ],
  });
}

const watchStreams = ({ watchers, reconcilers }: DashboardProps): IMetric[] =>
  watchers.flatMap(({ cluster }) =>
    reconcilers.map(({ operator: { kind } }) =>
      labelled(
        `${kind.kind} in ${cluster}`,
        ownMetric('podless_watch_connects_total', { cluster, kind: kind.kind }),
      ),
    ),
  );

const ages = ({ operator: { name }, inbox, work }: Reconciler): IMetric[] => [
  labelled(`${name} inbox`, queueMetric(inbox, 'ApproximateAgeOfOldestMessage')),
  labelled(`${name} work`, queueMetric(work, 'ApproximateAgeOfOldestMessage')),
];

const deadLetters = ({
  operator: { name },
  inboxDeadLetters,
  workDeadLetters,
}: Reconciler): IMetric[] => [
  labelled(`${name} inbox`, queueMetric(inboxDeadLetters, 'ApproximateNumberOfMessagesVisible')),
  labelled(`${name} work`, queueMetric(workDeadLetters, 'ApproximateNumberOfMessagesVisible')),
];

const reconcileGraph = ({ operator: { name, kind } }: Reconciler): GraphWidget =>
  graph(
    `Reconciles of ${kind.kind}`,
    outcomes.map((outcome) =>
      labelled(outcome, ownMetric('podless_reconcile_total', { operator: name, outcome })),
    ),
    NARROW,
  );

const runs =
  (metric: 'Invocations' | 'Errors') =>
  ({ functionName }: OperatorFunction): IMetric =>
    labelled(functionName, lambdaMetric(functionName, metric));

const labelled = (label: string, metric: AlarmMetric): IMetric =>
  toMetric(metric, PERIOD_MINUTES).with({ label });

const graph = (title: string, left: IMetric[], width = WIDTH): GraphWidget =>
  new GraphWidget({ title, left, width, leftYAxis: { min: 0 } });
