import { CreateQueueCommand, type QueueAttributeName, type SQSClient } from '@aws-sdk/client-sqs';
import type { QueueModel } from '../front/queue-model.ts';
import { queuePoliciesOf } from '../iam/queue-policies.ts';
import type { Fields } from '../template/fields.ts';
import { asText } from '../template/json.ts';
import type { Stack, StackResource } from '../template/stack.ts';

const TYPE = 'AWS::SQS::Queue';

/** What the front must know of the template's queues. */
export function queueModelsOf(stack: Stack): readonly QueueModel[] {
  const policies = queuePoliciesOf(stack);
  return stack.ofType(TYPE).map(({ name, arn, ref, fields }) => {
    const policy = policies.get(arn);
    const scope = fields.optionalText('DeduplicationScope');
    return {
      name,
      arn,
      url: ref,
      fifo: fields.optionalFlag('FifoQueue') ?? false,
      contentBasedDeduplication: fields.optionalFlag('ContentBasedDeduplication') ?? false,
      deduplicationScope: scope === 'messageGroup' ? 'messageGroup' : 'queue',
      visibilitySeconds: fields.optionalNumber('VisibilityTimeout') ?? 30,
      waitSeconds: fields.optionalNumber('ReceiveMessageWaitTimeSeconds') ?? 0,
      policies: policy ? [policy] : [],
    };
  });
}

/** Makes the template's queues. What AWS would refuse and moto would not is an error. */
export async function provisionQueues(stack: Stack, client: SQSClient): Promise<void> {
  const queues = stack.ofType(TYPE);
  for (const queue of queues) checkQueue(queue, stack);
  // A dead-letter queue must be there before the queue that refers to it.
  const inOrder = queues.toSorted(
    (a, b) => Number(a.fields.has('RedrivePolicy')) - Number(b.fields.has('RedrivePolicy')),
  );
  for (const { name, fields } of inOrder) {
    const Attributes = attributesOf(fields);
    await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
  }
}

/** Lowest and highest value that SQS takes. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  DelaySeconds: [0, 900],
  MaximumMessageSize: [1024, 1_048_576],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
};

const otherAttributes = [
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
] as const;

function attributesOf(fields: Fields): Partial<Record<QueueAttributeName, string>> {
  const names = [...Object.keys(ranges), ...otherAttributes];
  const plain = names.flatMap((name) => {
    const value = fields.raw[name];
    // CloudFormation leaves it out: a queue is FIFO or does not have the attribute.
    return value === undefined || (name === 'FifoQueue' && value === false)
      ? []
      : [[name, asText(value)] as const];
  });
  const { RedrivePolicy } = fields.raw;
  return {
    ...Object.fromEntries(plain),
    ...(RedrivePolicy !== undefined && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
}

function checkQueue({ name, arn, fields }: StackResource, stack: Stack): void {
  for (const [property, [lowest, highest]] of Object.entries(ranges)) {
    const value = fields.optionalNumber(property);
    if (value !== undefined && (value < lowest || value > highest)) {
      throw new Error(`${fields.path}.${property} must be ${lowest} to ${highest}, got ${value}`);
    }
  }
  const fifo = fields.optionalFlag('FifoQueue') ?? false;
  if (fifo !== name.endsWith('.fifo'))
    throw new Error(`${fields.path}: only FIFO queues end in .fifo`);
  const fifoOnly = otherAttributes.find((property) => !fifo && fields.optionalText(property));
  if (fifoOnly) throw new Error(`${fields.path}.${fifoOnly} is for FIFO queues`);
  const perGroup = fields.optionalText('FifoThroughputLimit') === 'perMessageGroupId';
  if (perGroup && fields.optionalText('DeduplicationScope') !== 'messageGroup') {
    throw new Error(`${fields.path}: perMessageGroupId needs DeduplicationScope messageGroup`);
  }
  const redrive = fields.optionalFields('RedrivePolicy');
  if (redrive) checkRedrive(arn, fifo, redrive, stack);
}

function checkRedrive(arn: string, fifo: boolean, redrive: Fields, stack: Stack): void {
  const { fields: target } = stack.byArn(TYPE, redrive.text('deadLetterTargetArn'));
  const receives = redrive.number('maxReceiveCount');
  if (receives < 1 || receives > 1000) {
    throw new Error(`${redrive.path}.maxReceiveCount must be 1 to 1000, got ${receives}`);
  }
  if ((target.optionalFlag('FifoQueue') ?? false) !== fifo) {
    throw new Error(`${redrive.path}: a FIFO queue needs a FIFO queue for its dead letters`);
  }
  const allowed = target.optionalFields('RedriveAllowPolicy');
  const permission = allowed?.text('redrivePermission') ?? 'allowAll';
  const named = permission === 'byQueue' ? (allowed?.texts('sourceQueueArns') ?? []) : [];
  if (permission !== 'allowAll' && !named.includes(arn)) {
    throw new Error(`${target.path}.RedriveAllowPolicy does not let ${arn} send its dead letters`);
  }
}
