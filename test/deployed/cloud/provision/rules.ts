import {
  CreateEventBusCommand,
  type EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { QueueModel } from '../front/queue-model.ts';
import type { Place } from '../template/physical-resource.ts';
import type { Stack, StackResource } from '../template/stack.ts';

/** A rule with a queue of the harness's own, into which moto puts every event that matches. */
export interface TappedRule {
  readonly rule: StackResource;
  readonly tap: QueueModel;
}

/**
 * moto finds the rules that match an event, but delivers it whatever InputPath, retry policy, dead-letter queue and the
 * policy of the queue say. So each rule leads into a queue of the harness, and the rule carrier does the rest.
 */
export const tapRules = (stack: Stack): readonly TappedRule[] =>
  stack.ofType('AWS::Events::Rule').map((rule, index) => ({
    rule,
    tap: tapOf(`harness-rule-${index}`, stack.place),
  }));

const tapOf = (name: string, { region, account, frontUrl }: Place): QueueModel => ({
  name,
  arn: `arn:aws:sqs:${region}:${account}:${name}`,
  url: `${frontUrl}/${account}/${name}`,
  fifo: false,
  contentBasedDeduplication: false,
  deduplicationScope: 'queue',
  visibilitySeconds: 43_200,
  waitSeconds: 0,
  policies: [],
});

/** Makes the template's buses and rules. */
export async function provisionRules(
  stack: Stack,
  rules: readonly TappedRule[],
  { sqs, events }: { readonly sqs: SQSClient; readonly events: EventBridgeClient },
): Promise<void> {
  for (const { name } of stack.ofType('AWS::Events::EventBus')) {
    await events.send(new CreateEventBusCommand({ Name: name }));
  }
  for (const { rule, tap } of rules) {
    const { name: Name, fields } = rule;
    const EventBusName = fields.optionalText('EventBusName') ?? 'default';
    const EventPattern = JSON.stringify(fields.fields('EventPattern').raw);
    const VisibilityTimeout = String(tap.visibilitySeconds);
    await sqs.send(
      new CreateQueueCommand({ QueueName: tap.name, Attributes: { VisibilityTimeout } }),
    );
    await events.send(new PutRuleCommand({ Name, EventBusName, EventPattern }));
    // moto delivers for a disabled rule too.
    if (fields.optionalText('State') === 'DISABLED') continue;
    const Targets = [{ Id: 'tap', Arn: tap.arn }];
    await events.send(new PutTargetsCommand({ Rule: Name, EventBusName, Targets }));
  }
}
