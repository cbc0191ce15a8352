import type { EventBus } from 'aws-cdk-lib/aws-events';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { environmentNames } from '../runtime/aws/environment.ts';
import { INBOX_MAX_RECEIVES } from '../runtime/cloud.ts';
import { codeOf, type Operator } from '../runtime/operator.ts';
import { type Charts, chartEnvironment } from './charts.ts';
import { hasGrantOn } from './declared-grants.ts';
import { OperatorFunction, type Platform } from './function.ts';
import { grant } from './grants.ts';
import { InboxRule } from './inbox-rule.ts';
import { nameOf } from './names.ts';
import { OperatorRights } from './operator-rights.ts';
import { createQueue } from './queue.ts';
import type { Tables } from './tables.ts';
import { WorkPipe } from './work-pipe.ts';

/** A Pipe moves a message in well under a second; a message it could not move comes back after this. */
const INBOX_VISIBILITY_SECONDS = 30;
/** AWS's advice for a queue that Lambda reads: a run that was throttled or killed leaves time for the next. */
const VISIBILITY_TIMEOUTS = 6;
/** Runs by hand that could not start: worth trying as long as the work queue would. */
const MAX_EVENT_AGE_SECONDS = 3600;

export interface ReconcilerProps {
  readonly platform: Platform;
  readonly operator: Operator;
  readonly clusters: readonly string[];
  readonly bus: EventBus;
  readonly tables: Tables;
  readonly charts: Charts;
  /** Origins a spec may name as endpoint. Default: none. */
  readonly endpoints?: readonly string[];
}

/** bus -> rule -> inbox -> Pipe -> work queue -> function: one object at a time, for one kind. */
export class Reconciler extends Construct {
  readonly operator: Operator;
  readonly function: OperatorFunction;
  readonly rule: InboxRule;
  readonly pipe: WorkPipe;
  readonly inbox: Queue;
  readonly inboxDeadLetters: Queue;
  readonly work: Queue;
  readonly workDeadLetters: Queue;
  readonly workVisibilitySeconds: number;

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    const { operator, bus } = props;
    const { name } = operator;
    this.operator = operator;
    this.workVisibilitySeconds = VISIBILITY_TIMEOUTS * operator.timeoutSeconds;
    const inbox = createQueue(this, 'Inbox', {
      name: `podless-${name}-inbox`,
      fifo: false,
      visibilitySeconds: INBOX_VISIBILITY_SECONDS,
      maxReceives: INBOX_MAX_RECEIVES,
    });
    const work = createQueue(this, 'Work', {
      name: `podless-${name}-work`,
      fifo: true,
      visibilitySeconds: this.workVisibilitySeconds,
      maxReceives: operator.maxReceives,
    });
    this.inbox = inbox.queue;
    this.inboxDeadLetters = inbox.deadLetters;
    this.work = work.queue;
    this.workDeadLetters = work.deadLetters;
    this.rule = new InboxRule(this, 'Rule', { operator, bus, inbox });
    this.pipe = new WorkPipe(this, 'Pipe', { operator, inbox: this.inbox, work: this.work });
    this.function = this.createFunction(props);
    this.grantRights(props);
    new EventSourceMapping(this, 'Source', {
      target: this.function.function,
      eventSourceArn: this.work.queueArn,
      batchSize: 1,
      reportBatchItemFailures: true,
      maxConcurrency: operator.maxConcurrency,
    });
  }

  private createFunction(props: ReconcilerProps): OperatorFunction {
    const { platform, operator, clusters } = props;
    const { name, kind, timeoutSeconds, memoryMegabytes, tools = [] } = operator;
    return new OperatorFunction(this, 'Reconciler', {
      platform,
      name,
      bundle: codeOf(operator),
      tools,
      functionName: nameOf(name),
      description: `Podless: reconciles ${kind.kind}`,
      clusters,
      timeoutSeconds,
      memoryMegabytes,
      maxEventAgeSeconds: MAX_EVENT_AGE_SECONDS,
      // A long job goes on by a message to itself; the runtime counts the hops that change nothing.
      recursive: true,
      environment: {
        [environmentNames.inbox(name)]: this.inbox.queueUrl,
        [environmentNames.work(name)]: this.work.queueUrl,
        ...environmentOf(props),
      },
    });
  }

  private grantRights({ operator, tables, charts }: ReconcilerProps): void {
    const { role, function: target } = this.function;
    grant(role, { actions: ['sqs:SendMessage'], resources: [this.inbox.queueArn] });
    grant(role, {
      // The first three are what Lambda itself needs to read the queue; the last is our backoff.
      actions: [
        'sqs:ReceiveMessage',
        'sqs:DeleteMessage',
        'sqs:GetQueueAttributes',
        'sqs:ChangeMessageVisibility',
      ],
      resources: [this.work.queueArn],
    });
    const { scopedRole } = new OperatorRights(this, 'Rights', {
      operator,
      tables,
      charts,
      role,
    });
    if (scopedRole) target.addEnvironment(environmentNames.scopedRole, scopedRole.roleArn);
  }
}

/** What the function must know beyond its queues: only what is of use to this operator. */
function environmentOf({ operator, platform, charts, endpoints = [] }: ReconcilerProps) {
  const { name, code } = operator;
  const usesEndpoints = endpoints.length > 0 && hasGrantOn('tables')(operator);
  return {
    ...(code !== undefined && { [environmentNames.operator]: name }),
    ...(usesEndpoints && { [environmentNames.endpoints]: endpoints.join(',') }),
    ...(hasGrantOn('chartBuckets')(operator) && {
      ...chartEnvironment(charts),
      ...platform.network?.s3Environment,
    }),
  };
}
