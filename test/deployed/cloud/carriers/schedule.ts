import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { systemClock } from '../../../../runtime/clock.ts';
import { describeError } from '../../../../runtime/log.ts';
import type { Authorizer } from '../authorizer.ts';
import { sqsAs } from '../clients.ts';
import type { Faults } from '../front/faults.ts';
import type { Identity } from '../front/identities.ts';
import type { Fields } from '../template/fields.ts';
import type { StackResource } from '../template/stack.ts';
import { type CarrierContext, QUEUE, sessionFor } from './carrier.ts';
import type { InvokeResult, Lambda } from './lambda.ts';
import { sendWithRetries } from './retries.ts';

export interface ScheduleOptions {
  readonly context: CarrierContext;
  readonly lambda: Lambda;
  readonly authorizer: Authorizer;
  readonly faults: Faults;
}

export interface DeployedSchedule {
  readonly name: string;
  readonly everySeconds: number;
  /** The function that it starts. */
  readonly functionName: string;
  readonly input: string;
  /** Starts the function now. Resolves with the outcome, or undefined if it could not be started. */
  fire(): Promise<InvokeResult | undefined>;
  /** Starts it now and then by its rate, until the cloud stops. Nothing if it is disabled. */
  start(): void;
}

export function createSchedule(
  { name, fields }: StackResource,
  options: ScheduleOptions,
): DeployedSchedule {
  const { context, lambda } = options;
  const { signal, stack, report } = context;
  const target = fields.fields('Target');
  const { region, account } = stack.place;
  const group = fields.optionalText('GroupName') ?? 'default';
  // AWS: a role is lent to the group, not to the schedule.
  const sourceArn = `arn:aws:scheduler:${region}:${account}:schedule-group/${group}`;
  const role = target.text('RoleArn');
  const identity = sessionFor(context, role, 'scheduler.amazonaws.com', sourceArn, 'scheduler');
  const deployed = lambda.functionOf(target.text('Arn'));
  const everySeconds = secondsOf(fields.text('ScheduleExpression'), fields.path);
  const input = target.optionalText('Input') ?? '{}';
  const fire = async (): Promise<InvokeResult | undefined> => {
    const invoked = await tryToInvoke(target, deployed.arn, identity, options);
    return invoked ? lambda.runAsync(deployed.name, input) : undefined;
  };
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      fire().catch((error: unknown) => report('run by schedule failed', describeError(error)));
      await systemClock.sleep(everySeconds * 1000, signal).catch(() => {});
    }
  };
  const enabled = fields.optionalText('State') !== 'DISABLED';
  return {
    name,
    everySeconds,
    functionName: deployed.name,
    input,
    fire,
    start: () => {
      if (enabled) void repeat();
    },
  };
}

/** Hands the event to Lambda, with the schedule's retries; if Lambda does not take it, it goes to the dead letters. */
async function tryToInvoke(
  target: Fields,
  functionArn: string,
  identity: Identity,
  { context, authorizer, faults }: ScheduleOptions,
): Promise<boolean> {
  const { stack, report } = context;
  const access = { action: 'lambda:InvokeFunction', resource: functionArn };
  const hand = async (): Promise<void> => {
    if (!authorizer.permits(identity, access)) throw new Error(`not authorized: ${access.action}`);
    const fault = faults.take('lambda', 'Invoke', authorizer.nameOf(identity));
    if (!fault) return;
    const httpStatusCode = 'status' in fault ? fault.status : 500;
    throw Object.assign(new Error('fault of the test'), { $metadata: { httpStatusCode } });
  };
  const retries =
    target.optionalFields('RetryPolicy')?.optionalNumber('MaximumRetryAttempts') ?? 185;
  const error = await sendWithRetries(hand, retries, context);
  if (error === undefined) return true;
  report('function not started', { target: functionArn, ...describeError(error) });
  const deadLetters = target.optionalFields('DeadLetterConfig')?.text('Arn');
  if (deadLetters === undefined) return false;
  const QueueUrl = stack.byArn(QUEUE, deadLetters).ref;
  const MessageBody = target.optionalText('Input') ?? '{}';
  await sqsAs(stack.place, identity)
    .send(new SendMessageCommand({ QueueUrl, MessageBody }))
    .catch((problem: unknown) =>
      report('schedule dropped', { deadLetters, ...describeError(problem) }),
    );
  return false;
}

const units: Readonly<Record<string, number>> = { minute: 60, hour: 3600, day: 86_400 };

/** `rate(10 minutes)` in seconds. */
export function secondsOf(expression: string, path: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = Number(count) * (units[unit] ?? Number.NaN);
  if (seconds > 0) return seconds;
  throw new Error(`the harness knows rate(...) only, got ${expression} at ${path}`);
}
