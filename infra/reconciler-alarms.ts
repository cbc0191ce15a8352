import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { codeOf } from '../runtime/operator.ts';
import type { AlarmSpec } from './alarm.ts';
import { lambdaMetric, ownMetric, pipeMetric, queueMetric, ruleMetric } from './metrics.ts';
import { nameOf } from './names.ts';
import type { Reconciler } from './reconciler.ts';

/** Resync and requeue delay a message up to 15 minutes. */
const MAX_INBOX_AGE_SECONDS = 1800;

/** What can go wrong between the bus and the end of a reconcile. */
export const reconcilerAlarms = (reconciler: Reconciler): readonly AlarmSpec[] => [
  ...deadLetterAlarms(reconciler),
  ...ageAlarms(reconciler),
  ...deliveryAlarms(reconciler),
  ...loopAlarms(reconciler),
];

/** @param origin what the messages in it were on the way to */
export const deadLetterAlarm = (name: string, queue: Queue, texts: AlarmTexts): AlarmSpec => ({
  name: `${name}-not-empty`,
  ...texts,
  metric: queueMetric(queue, 'ApproximateNumberOfMessagesVisible'),
  threshold: { atLeast: 1 },
  periodMinutes: 5,
  periods: 1,
});

type AlarmTexts = Pick<AlarmSpec, 'meaning' | 'remedy'>;

function deadLetterAlarms(reconciler: Reconciler): readonly AlarmSpec[] {
  const { operator, inboxDeadLetters, workDeadLetters } = reconciler;
  const { kind } = operator;
  const name = nameOf(operator.name);
  return [
    deadLetterAlarm(`${name}-inbox-dlq`, inboxDeadLetters, {
      meaning: `Hints on ${kind.kind} could not be brought to the work queue.`,
      remedy: `Look at one (aws sqs receive-message): without group and dedupId somebody else has sent it; otherwise the rule or the Pipe ${name} failed. Resync repeats what was lost, so purge the queue when the cause is gone.`,
    }),
    deadLetterAlarm(`${name}-work-dlq`, workDeadLetters, {
      meaning: `A ${kind.kind} failed ${operator.maxReceives} times in a row. Others are not held up.`,
      remedy: `The message names the object; read its log lines in /aws/lambda/${name}. Every resync tries the object again, so purge the queue when the cause is gone.`,
    }),
  ];
}

function ageAlarms({ operator, inbox, work, workVisibilitySeconds }: Reconciler) {
  const name = nameOf(operator.name);
  return [
    {
      name: `${name}-inbox-age`,
      meaning: `A hint has waited ${MAX_INBOX_AGE_SECONDS / 60} minutes in the inbox: the Pipe ${name} does not move it.`,
      remedy: `See the state of the Pipe (aws pipes describe-pipe --name ${name}) and its role.`,
      metric: queueMetric(inbox, 'ApproximateAgeOfOldestMessage'),
      threshold: { atLeast: MAX_INBOX_AGE_SECONDS },
      periodMinutes: 5,
      periods: 3,
    },
    {
      name: `${name}-work-age`,
      meaning: `A hint has waited ${workVisibilitySeconds / 60} minutes in the work queue: runs are killed, or there are more objects than ${operator.maxConcurrency} runs at once can handle.`,
      remedy: `Read /aws/lambda/${name}: timeouts mean a stuck run; otherwise raise maxConcurrency in functions/${codeOf(operator)}/operator.ts.`,
      metric: queueMetric(work, 'ApproximateAgeOfOldestMessage'),
      threshold: { atLeast: workVisibilitySeconds },
      periodMinutes: 5,
      periods: 3,
    },
  ] as const satisfies readonly AlarmSpec[];
}

function deliveryAlarms({ operator, pipe, rule }: Reconciler): readonly AlarmSpec[] {
  const { kind } = operator.kind;
  return [
    {
      name: `${pipe.name}-pipe-failing`,
      meaning: `The Pipe ${pipe.name} keeps failing to move hints on ${kind} to the work queue.`,
      remedy:
        'Look at its role and at the inbox: messages without group and dedupId are not from Podless.',
      metric: pipeMetric(pipe.name, 'ExecutionFailed'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 3,
    },
    {
      name: `${rule.name}-rule-lost`,
      meaning: `Hints on ${kind} reached neither the inbox nor its dead-letter queue.`,
      remedy: `The policies of both queues must let the rule ${rule.name} send. Resync repeats what was lost.`,
      metric: ruleMetric(rule, 'InvocationsFailedToBeSentToDlq'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 1,
    },
  ];
}

function loopAlarms({ operator }: Reconciler): readonly AlarmSpec[] {
  const name = nameOf(operator.name);
  return [
    {
      name: `${name}-recursion-stopped`,
      meaning: `Lambda has ended a chain of messages of ${name}, which it is told not to do. Long jobs stop half way until the next resync.`,
      remedy: `Set it back: aws lambda put-function-recursion-config --function-name ${name} --recursive-loop Allow.`,
      metric: lambdaMetric(name, 'RecursiveInvocationsDropped'),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 1,
    },
    {
      name: `${name}-chain-stopped`,
      meaning: `A ${operator.kind.kind} asked to be looked at again and again while nothing changed, so its chain was ended. Resync still looks at it.`,
      remedy: `Read /aws/lambda/${name} for the object and the reason it gives for its requeues.`,
      metric: ownMetric('podless_requeue_chain_stopped_total', { operator: operator.name }),
      threshold: { atLeast: 1 },
      periodMinutes: 5,
      periods: 1,
    },
  ];
}
