import { Construct } from 'constructs';
import { resyncSettings } from '../functions/resync/settings.ts';
import { environmentNames } from '../runtime/aws/environment.ts';
import { MAX_DELAY_SECONDS } from '../runtime/cloud.ts';
import { OperatorFunction, type Platform } from './function.ts';
import { grant } from './grants.ts';
import { clusterId, fitName, nameOf } from './names.ts';
import type { Reconciler } from './reconciler.ts';
import type { Schedules } from './schedules.ts';

/** An asynchronous run may wait no longer. */
const MAX_EVENT_AGE_SECONDS = 21_600;

export interface ResyncProps {
  readonly platform: Platform;
  readonly clusters: readonly string[];
  readonly reconcilers: readonly Reconciler[];
  readonly schedules: Schedules;
}

/** Lists every object of every kind now and then, and sends each to its inbox: what no event told is found that way. */
export class Resync extends OperatorFunction {
  constructor(scope: Construct, id: string, props: ResyncProps) {
    const { platform, clusters, reconcilers } = props;
    const periods = reconcilers.map(({ operator }) => operator.resyncSeconds);
    super(scope, id, {
      platform,
      name: 'resync',
      functionName: nameOf('resync'),
      description: 'Podless: sends every object to its inbox, spread over time',
      clusters,
      ...resyncSettings,
      maxEventAgeSeconds: Math.min(...periods, MAX_EVENT_AGE_SECONDS),
      environment: {
        [environmentNames.operators]: reconcilers.map(({ operator }) => operator.name).join(','),
        ...Object.fromEntries(
          reconcilers.map(({ operator, inbox }) => [
            environmentNames.inbox(operator.name),
            inbox.queueUrl,
          ]),
        ),
      },
    });
    grant(this.role, {
      actions: ['sqs:SendMessage'],
      resources: reconcilers.map(({ inbox }) => inbox.queueArn),
    });
    this.addSchedules(props);
  }

  private addSchedules({ clusters, reconcilers, schedules }: ResyncProps): void {
    const role = schedules.roleFor(this);
    const all = new Construct(this, 'Schedules');
    for (const cluster of clusters) {
      const ofCluster = new Construct(all, clusterId(cluster));
      for (const { operator } of reconcilers) {
        const { name, resyncSeconds } = operator;
        const spreadSeconds = Math.min(Math.floor(resyncSeconds / 2), MAX_DELAY_SECONDS);
        schedules.add(ofCluster, name, {
          // A dot can be in neither name, so no two pairs share one.
          name: fitName(`resync.${cluster}.${name}`),
          everySeconds: resyncSeconds,
          target: this,
          role,
          input: { cluster, operator: name, spreadSeconds },
          after: [this.access.entryOf(cluster)],
        });
      }
    }
  }
}
