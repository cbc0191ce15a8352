import { type Message, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { describeError } from '../../../../runtime/log.ts';
import { sqsAs } from '../clients.ts';
import type { Identity } from '../front/identities.ts';
import type { TappedRule } from '../provision/rules.ts';
import type { Fields } from '../template/fields.ts';
import type { Json } from '../template/json.ts';
import { type CarrierContext, QUEUE } from './carrier.ts';
import { parseJsonPath } from './json-path.ts';
import { createQueueReader } from './queue-reader.ts';
import { sendWithRetries } from './retries.ts';

export interface RuleOptions {
  readonly context: CarrierContext;
  readonly tapped: TappedRule;
  /** Who reads the tap. */
  readonly harness: SQSClient;
  /** EventBridge, on behalf of the rule. */
  readonly service: Identity;
}

/** Delivers what matches a rule to its targets: as InputPath says, as the queue's policy allows, else to the dead letters. */
export function startRule({ context, tapped, harness, service }: RuleOptions): void {
  const { signal, stack, report } = context;
  const { rule, tap } = tapped;
  const client = sqsAs(stack.place, service);
  const targets = rule.fields
    .list('Targets')
    .map((fields) => createTarget(fields, context, client));
  const reader = createQueueReader({
    client: harness,
    url: tap.url,
    batchSize: 10,
    signal,
    onFailure: (error) => report('events of a rule could not be read', describeError(error)),
  });
  const deliver = async ({ Body = '' }: Message): Promise<void> => {
    const event = JSON.parse(Body) as Json;
    await Promise.all(targets.map((target) => target(event)));
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const messages = await reader.receive();
      await reader.delete(messages);
      for (const message of messages) void deliver(message);
    }
  };
  run().catch((error: unknown) => {
    if (!signal.aborted) report('rule stopped', { rule: rule.name, ...describeError(error) });
  });
}

type Target = (event: Json) => Promise<void>;

function createTarget(fields: Fields, context: CarrierContext, client: SQSClient): Target {
  const { stack, report } = context;
  const { ref: QueueUrl, arn } = stack.byArn(QUEUE, fields.text('Arn'));
  const inputPath = parseJsonPath(fields.optionalText('InputPath') ?? '$');
  const deadLetterArn = fields.optionalFields('DeadLetterConfig')?.text('Arn');
  const deadLetters = deadLetterArn === undefined ? undefined : stack.byArn(QUEUE, deadLetterArn);
  const retries =
    fields.optionalFields('RetryPolicy')?.optionalNumber('MaximumRetryAttempts') ?? 185;
  return async (event) => {
    const input = inputPath(event);
    const send = async (): Promise<void> => {
      if (input === undefined)
        throw new Error(`${fields.path}.InputPath finds nothing in the event`);
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(input) }));
    };
    const error = await sendWithRetries(send, retries, context);
    if (error === undefined) return;
    report('event not delivered', { target: arn, ...describeError(error) });
    if (deadLetters === undefined) return;
    const MessageBody = JSON.stringify(event);
    const command = new SendMessageCommand({ QueueUrl: deadLetters.ref, MessageBody });
    await client.send(command).catch((problem: unknown) => {
      report('event dropped', { deadLetters: deadLetters.arn, ...describeError(problem) });
    });
  };
}
