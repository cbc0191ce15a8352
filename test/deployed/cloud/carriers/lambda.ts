import { randomUUID } from 'node:crypto';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describeError } from '../../../../runtime/log.ts';
import type { Authorizer } from '../authorizer.ts';
import { sqsAs } from '../clients.ts';
import type { DeployedFunction } from '../provision/functions.ts';
import type { Fields } from '../template/fields.ts';
import { type CarrierContext, QUEUE } from './carrier.ts';

export type InvokeResult =
  | { readonly ok: true; readonly payload: string }
  | {
      readonly ok: false;
      readonly kind: 'error' | 'timeout' | 'crash';
      readonly error: { readonly errorType: string; readonly errorMessage: string };
    };

/** Runs a function. Never rejects for what the function did. */
export type Invoke = (functionName: string, payload: string) => Promise<InvokeResult>;

/** Lambda as the services see it. */
export interface Lambda {
  functionOf(arnOrName: string): DeployedFunction;
  /** Once, and waits for the answer. */
  run(name: string, payload: string): Promise<InvokeResult>;
  /** As often as the function's EventInvokeConfig says; then to its destination. Resolves when that is done. */
  runAsync(name: string, payload: string): Promise<InvokeResult>;
}

export interface LambdaOptions {
  readonly context: CarrierContext;
  readonly functions: readonly DeployedFunction[];
  readonly authorizer: Authorizer;
  readonly invoke: Invoke;
}

/** AWS's waits between the tries of an asynchronous run. */
const RETRY_PAUSE_SECONDS = [60, 120];

export function createLambda(options: LambdaOptions): Lambda {
  const { context, functions, authorizer, invoke } = options;
  const configs = new Map(
    context.stack
      .ofType('AWS::Lambda::EventInvokeConfig')
      .map(({ fields }) => [fields.text('FunctionName'), fields]),
  );
  const functionOf = (id: string): DeployedFunction => {
    const found = functions.find(({ name, arn }) => id === name || id === arn);
    if (!found) throw new Error(`template: there is no function ${id}`);
    return found;
  };
  for (const [name, config] of configs) checkDestination(functionOf(name), config, options);
  const run: Lambda['run'] = async (name, payload) => {
    writeLogs(functionOf(name), context, authorizer);
    return invoke(name, payload);
  };
  return {
    functionOf,
    run,
    runAsync: (name, payload) =>
      retry(() => run(name, payload), {
        config: configs.get(name),
        context,
        keep: (run, destination) => sendFailure(functionOf(name), destination, run, context),
        payload,
      }),
  };
}

interface RetryOptions {
  readonly config: Fields | undefined;
  readonly context: CarrierContext;
  readonly payload: string;
  /** Sends a run that failed for good to the function's destination. */
  readonly keep: (run: FailedRun, destination: string) => Promise<void>;
}

async function retry(
  run: () => Promise<InvokeResult>,
  { config, context, payload, keep }: RetryOptions,
): Promise<InvokeResult> {
  const retries = config?.optionalNumber('MaximumRetryAttempts') ?? 2;
  const destination = destinationOf(config);
  for (let attempt = 0; ; attempt += 1) {
    const result = await run();
    if (result.ok || context.signal.aborted) return result;
    if (attempt < retries) {
      await context.pause(RETRY_PAUSE_SECONDS[attempt] ?? 0);
    } else {
      if (destination !== undefined) await keep({ payload, result, attempt }, destination);
      return result;
    }
  }
}

const destinationOf = (config: Fields | undefined): string | undefined =>
  config?.optionalFields('DestinationConfig')?.optionalFields('OnFailure')?.text('Destination');

/** Lambda refuses a destination to which the function's role may not send. */
function checkDestination(
  { identity, name }: DeployedFunction,
  config: Fields,
  { context, authorizer }: LambdaOptions,
): void {
  const resource = destinationOf(config);
  if (resource === undefined) return;
  context.stack.byArn(QUEUE, resource);
  if (!authorizer.permits(identity, { action: 'sqs:SendMessage', resource })) {
    throw new Error(`${config.path}: the role of ${name} may not send to ${resource}`);
  }
}

/** Lambda writes the log with the function's role. Without the right the function runs all the same, unseen. */
function writeLogs(
  { identity, logGroup }: DeployedFunction,
  { stack }: CarrierContext,
  authorizer: Authorizer,
): void {
  const { region, account } = stack.place;
  const resource = `arn:aws:logs:${region}:${account}:log-group:${logGroup}:log-stream:harness`;
  for (const action of ['logs:CreateLogStream', 'logs:PutLogEvents']) {
    authorizer.permits(identity, { action, resource });
  }
}

interface FailedRun {
  readonly payload: string;
  readonly result: InvokeResult & { readonly ok: false };
  readonly attempt: number;
}

async function sendFailure(
  { identity, arn }: DeployedFunction,
  destination: string,
  { payload, result, attempt }: FailedRun,
  { stack, report }: CarrierContext,
): Promise<void> {
  const record = {
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId: randomUUID(),
      functionArn: `${arn}:$LATEST`,
      condition: 'RetriesExhausted',
      approximateInvokeCount: attempt + 1,
    },
    requestPayload: JSON.parse(payload) as unknown,
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: result.error,
  };
  const QueueUrl = stack.byArn(QUEUE, destination).ref;
  const command = new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(record) });
  await sqsAs(stack.place, identity)
    .send(command)
    .catch((error: unknown) => report('failed run not kept', { arn, ...describeError(error) }));
}
