import { CfnRule, type EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { HINT_SOURCE } from '../runtime/hint.ts';
import { apiVersionOf, type Operator } from '../runtime/operator.ts';
import { nameOf } from './names.ts';
import type { QueueWithDeadLetters } from './queue.ts';

/** EventBridge's own limits, written down: a hint is worth delivering as long as they allow. */
const MAX_EVENT_AGE_SECONDS = 86_400;
const MAX_RETRIES = 185;

export interface InboxRuleProps {
  readonly operator: Operator;
  readonly bus: EventBus;
  readonly inbox: QueueWithDeadLetters;
}

/** Sends the hints of one kind from the bus to its inbox: the hint alone, without the event around it. */
export class InboxRule extends Construct {
  readonly name: string;
  readonly busName: string;

  constructor(scope: Construct, id: string, { operator, bus, inbox }: InboxRuleProps) {
    super(scope, id);
    this.name = nameOf(operator.name);
    this.busName = bus.eventBusName;
    const rule = new CfnRule(this, 'Rule', {
      name: this.name,
      description: `Hints on ${operator.kind.kind} go to its inbox`,
      eventBusName: bus.eventBusName,
      eventPattern: {
        source: [HINT_SOURCE],
        'detail-type': [operator.kind.kind],
        detail: { apiVersion: [apiVersionOf(operator.kind)] },
      },
      state: 'ENABLED',
      targets: [
        {
          id: 'Inbox',
          arn: inbox.queue.queueArn,
          inputPath: '$.detail',
          deadLetterConfig: { arn: inbox.deadLetters.queueArn },
          retryPolicy: {
            maximumEventAgeInSeconds: MAX_EVENT_AGE_SECONDS,
            maximumRetryAttempts: MAX_RETRIES,
          },
        },
      ],
    });
    for (const queue of [inbox.queue, inbox.deadLetters]) allowRule(queue, rule.attrArn);
  }
}

const allowRule = (queue: Queue, ruleArn: string): void => {
  queue.addToResourcePolicy(
    new PolicyStatement({
      sid: 'RuleOnly',
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { ArnEquals: { 'aws:SourceArn': ruleArn } },
    }),
  );
};
