import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  DeduplicationScope,
  FifoThroughputLimit,
  Queue,
  QueueEncryption,
  RedrivePermission,
} from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Time to find out why a message ended there: as long as SQS keeps one. */
const DEAD_LETTER_RETENTION = Duration.days(14);
const RETENTION = Duration.days(4);

export interface QueueProps {
  /** Without `.fifo`. */
  readonly name: string;
  readonly fifo: boolean;
  readonly visibilitySeconds: number;
  readonly maxReceives: number;
}

export interface QueueWithDeadLetters {
  readonly queue: Queue;
  readonly deadLetters: Queue;
}

/** A queue and `<name>-dlq`, where a message goes that was received `maxReceives` times without success. */
export function createQueue(
  scope: Construct,
  id: string,
  { name, fifo, visibilitySeconds, maxReceives }: QueueProps,
): QueueWithDeadLetters {
  const suffix = fifo ? '.fifo' : '';
  const deadLetters = createDeadLetterQueue(scope, `${id}DeadLetters`, {
    name: `${name}-dlq${suffix}`,
    source: `${name}${suffix}`,
  });
  const queue = new Queue(scope, id, {
    ...secure,
    ...(fifo ? highThroughput : {}),
    queueName: `${name}${suffix}`,
    visibilityTimeout: Duration.seconds(visibilitySeconds),
    retentionPeriod: RETENTION,
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: maxReceives },
  });
  return { queue, deadLetters };
}

export interface DeadLetterQueueProps {
  /** With `.fifo` where the queue is one. */
  readonly name: string;
  /** The queue whose dead letters it takes. Default: those of no queue. */
  readonly source?: string;
}

export function createDeadLetterQueue(
  scope: Construct,
  id: string,
  { name, source }: DeadLetterQueueProps,
): Queue {
  return new Queue(scope, id, {
    ...secure,
    ...(name.endsWith('.fifo') ? highThroughput : {}),
    queueName: name,
    retentionPeriod: DEAD_LETTER_RETENTION,
    redriveAllowPolicy:
      source === undefined
        ? { redrivePermission: RedrivePermission.DENY_ALL }
        : {
            redrivePermission: RedrivePermission.BY_QUEUE,
            sourceQueues: [queueByName(scope, `${id}Source`, source)],
          },
  });
}

/** A queue refers to its dead-letter queue, and CloudFormation allows no circle: so the way back is by name. */
const queueByName = (scope: Construct, id: string, name: string) =>
  Queue.fromQueueArn(scope, id, Stack.of(scope).formatArn({ service: 'sqs', resource: name }));

const secure = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  removalPolicy: RemovalPolicy.DESTROY,
} as const;

/** Limits and deduplication hold for each message group, not for the queue. */
const highThroughput = {
  fifo: true,
  contentBasedDeduplication: false,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;
