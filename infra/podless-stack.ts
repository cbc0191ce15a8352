import { Stack, type StackProps, Tags, Validations } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import type { Settings } from './context.ts';
import { createCursorTable } from './cursor-table.ts';
import { hasGrantOn } from './declared-grants.ts';
import type { Platform } from './function.ts';
import { checkOperatorNames, clusterId, nameOf } from './names.ts';
import { Network } from './network.ts';
import { Observability } from './observability.ts';
import { addOutputs } from './outputs.ts';
import { createDeadLetterQueue } from './queue.ts';
import { Reconciler } from './reconciler.ts';
import { Resync } from './resync.ts';
import { Schedules } from './schedules.ts';
import { ToolLayers } from './tool-layers.ts';
import { Watcher } from './watcher.ts';

export interface PodlessStackProps extends StackProps {
  readonly settings: Settings;
  /** Holds a folder per bundle. */
  readonly bundleFolder: string;
}

/** All of Podless in one account and region, for any number of clusters there. */
export class PodlessStack extends Stack {
  constructor(scope: Construct, id: string, props: PodlessStackProps) {
    const { settings, bundleFolder, ...stackProps } = props;
    super(scope, id, {
      description: 'Podless: Kubernetes operators as Lambda functions',
      ...stackProps,
    });
    const { clusters, operators, tables, charts, endpoints, alarmTopicArn } = settings;
    checkOperatorNames(operators.map(({ name }) => name));
    Tags.of(this).add('app', 'podless');
    const needs = { s3: operators.some(hasGrantOn('chartBuckets')) };
    const network = settings.network && new Network(this, 'Network', settings.network, needs);
    const failedInvocations = createFailedInvocations(this);
    const platform: Platform = {
      bundleFolder,
      toolLayers: new ToolLayers(this, 'Tools'),
      failedInvocations,
      logRetention: settings.logRetentionDays,
      ...(network && { network }),
    };
    const bus = new EventBus(this, 'Bus', { eventBusName: 'podless' });
    const schedules = new Schedules(this, 'Schedules', { deadLetters: failedInvocations });
    const cursors = createCursorTable(this, 'Cursors');
    const shared = { platform, clusters, bus, tables, charts, endpoints, cursors, schedules };
    // Named by cluster and operator, never by number: one more changes nothing about the others.
    const ofOperators = new Construct(this, 'Reconciler');
    const reconcilers = operators.map(
      (operator) => new Reconciler(ofOperators, operator.name, { ...shared, operator }),
    );
    const resync = new Resync(this, 'Resync', { ...shared, reconcilers });
    const ofClusters = new Construct(this, 'Watcher');
    const watchers = clusters.map(
      (cluster) => new Watcher(ofClusters, clusterId(cluster), { ...shared, cluster, operators }),
    );
    new Observability(this, 'Observability', {
      watchers,
      resync,
      reconcilers,
      schedules,
      failedInvocations,
      ...(alarmTopicArn !== undefined && { topicArn: alarmTopicArn }),
    });
    addOutputs(this, { clusters, operators, network });
  }
}

function createFailedInvocations(scope: Construct) {
  const name = nameOf('failed-invocations');
  const queue = createDeadLetterQueue(scope, 'FailedInvocations', { name });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason:
      'It is itself where Lambda and Scheduler put what failed for good; nobody receives from it but people, so nothing can fail again.',
  });
  return queue;
}
