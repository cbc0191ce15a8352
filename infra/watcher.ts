import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { Construct } from 'constructs';
import { watcherSettings } from '../functions/watcher/settings.ts';
import { environmentNames } from '../runtime/aws/environment.ts';
import type { Operator } from '../runtime/operator.ts';
import { OperatorFunction, type Platform } from './function.ts';
import { grant } from './grants.ts';
import { fitName, nameOf } from './names.ts';
import type { Schedules } from './schedules.ts';

export interface WatcherProps {
  readonly platform: Platform;
  readonly cluster: string;
  /** Whose kinds are watched. */
  readonly operators: readonly Operator[];
  readonly bus: EventBus;
  readonly cursors: Table;
  readonly schedules: Schedules;
}

/** Watches one cluster in shifts that overlap, and puts what changed on the bus. */
export class Watcher extends OperatorFunction {
  readonly cluster: string;
  readonly scheduleName: string;

  constructor(scope: Construct, id: string, props: WatcherProps) {
    const { platform, cluster, operators, bus, cursors, schedules } = props;
    const { periodSeconds, overlapSeconds, timeoutSeconds, memoryMegabytes } = watcherSettings;
    super(scope, id, {
      platform,
      name: 'watcher',
      functionName: nameOf('watcher', cluster),
      description: `Podless: watches cluster ${cluster} and puts changes on the bus`,
      clusters: [cluster],
      timeoutSeconds,
      memoryMegabytes,
      // By then the next shift has started.
      maxEventAgeSeconds: periodSeconds,
      environment: {
        [environmentNames.operators]: operators.map(({ name }) => name).join(','),
        [environmentNames.bus]: bus.eventBusName,
        [environmentNames.cursorTable]: cursors.tableName,
      },
    });
    this.cluster = cluster;
    this.scheduleName = fitName(`watcher.${cluster}`);
    grant(this.role, { actions: ['events:PutEvents'], resources: [bus.eventBusArn] });
    grant(this.role, {
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem'],
      resources: [cursors.tableArn],
    });
    schedules.add(this, 'Schedule', {
      name: this.scheduleName,
      everySeconds: periodSeconds,
      target: this,
      role: schedules.roleFor(this),
      input: { cluster, shiftSeconds: periodSeconds + overlapSeconds },
      after: [this.access.entryOf(cluster)],
    });
  }
}
