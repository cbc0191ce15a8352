import type { Message } from '@aws-sdk/client-sqs';
import { failedMessageIds } from '../../../../local/cloud/batch-response.ts';
import { createWakeup } from '../../../../local/cloud/wakeup.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import { describeError } from '../../../../runtime/log.ts';
import { sqsAs } from '../clients.ts';
import type { Fields } from '../template/fields.ts';
import type { StackResource } from '../template/stack.ts';
import { type CarrierContext, QUEUE } from './carrier.ts';
import { type Filter, filterOf } from './filter.ts';
import type { InvokeResult, Lambda } from './lambda.ts';
import { createQueueReader, type QueueReader } from './queue-reader.ts';
import { toSqsRecord, withParsedBody } from './sqs-record.ts';

/** Lambda takes more; the harness does not start more than this without being told. */
const DEFAULT_CONCURRENCY = 10;

/** Feeds a function from a queue, reading with the function's own role. What it does not delete comes back by itself. */
export async function startEventSourceMapping(
  { fields }: StackResource,
  context: CarrierContext,
  lambda: Lambda,
): Promise<void> {
  if (fields.optionalFlag('Enabled') === false) return;
  const { stack, signal, report } = context;
  const deployed = lambda.functionOf(fields.text('FunctionName'));
  const queue = stack.byArn(QUEUE, fields.text('EventSourceArn'));
  checkMapping(fields, queue, deployed.timeoutSeconds);
  const reader = createQueueReader({
    client: sqsAs(stack.place, deployed.identity),
    url: queue.ref,
    batchSize: fields.optionalNumber('BatchSize') ?? 10,
    signal,
    onFailure: (error) =>
      report('event source cannot read', { function: deployed.name, ...describeError(error) }),
  });
  await reader.open();
  const mapping: Mapping = {
    reader,
    queueArn: queue.arn,
    run: (payload) => lambda.run(deployed.name, payload),
    filter: filterOf(fields.optionalFields('FilterCriteria')),
    reportsFailures:
      fields.has('FunctionResponseTypes') &&
      fields.texts('FunctionResponseTypes').includes('ReportBatchItemFailures'),
    maximumConcurrency:
      fields.optionalFields('ScalingConfig')?.number('MaximumConcurrency') ?? DEFAULT_CONCURRENCY,
  };
  void feed(mapping, context);
}

interface Mapping {
  readonly reader: QueueReader;
  readonly queueArn: string;
  readonly run: (payload: string) => Promise<InvokeResult>;
  readonly filter: Filter;
  readonly reportsFailures: boolean;
  readonly maximumConcurrency: number;
}

/** What Lambda refuses when a mapping is made. */
function checkMapping(fields: Fields, queue: StackResource, timeoutSeconds: number): void {
  const visibility = queue.fields.optionalNumber('VisibilityTimeout') ?? 30;
  if (visibility < timeoutSeconds) {
    throw new Error(
      `${fields.path}: queue ${queue.name} has a visibility timeout of ${visibility} s, less than the function's timeout of ${timeoutSeconds} s`,
    );
  }
  const batchSize = fields.optionalNumber('BatchSize') ?? 10;
  if (batchSize > 10) throw new Error(`${fields.path}.BatchSize must be 1 to 10, got ${batchSize}`);
  const concurrency = fields.optionalFields('ScalingConfig')?.number('MaximumConcurrency') ?? 2;
  if (concurrency < 2 || concurrency > 1000) {
    throw new Error(`${fields.path}: MaximumConcurrency must be 2 to 1000, got ${concurrency}`);
  }
}

/** Runs under way at the end are not waited for. */
async function feed(mapping: Mapping, { signal, report }: CarrierContext): Promise<void> {
  const runEnded = createWakeup(systemClock);
  let running = 0;
  while (!signal.aborted) {
    if (running >= mapping.maximumConcurrency) {
      await runEnded.wait(signal);
      continue;
    }
    const messages = await mapping.reader.receive();
    if (messages.length === 0) continue;
    running += 1;
    void runOnce(messages, mapping)
      .catch((error: unknown) => {
        if (!signal.aborted) report('function run failed', describeError(error));
      })
      .finally(() => {
        running -= 1;
        runEnded.notify();
      });
  }
}

async function runOnce(messages: readonly Message[], mapping: Mapping): Promise<void> {
  const { reader, queueArn, filter } = mapping;
  const records = messages.map((message) => ({ message, record: toSqsRecord(message, queueArn) }));
  const wanted = records.filter(({ record }) => filter(withParsedBody(record)));
  // AWS deletes what a filter does not want: it is gone for good.
  await reader.delete(records.filter((one) => !wanted.includes(one)).map(({ message }) => message));
  if (wanted.length === 0) return;
  const event = { Records: wanted.map(({ record }) => record) };
  const result = await mapping.run(JSON.stringify(event));
  if (!result.ok) throw new Error(`${result.kind}: ${result.error.errorMessage}`);
  const failed = mapping.reportsFailures ? failedOf(result.payload, messages) : new Set<string>();
  await reader.delete(
    wanted.map(({ message }) => message).filter(({ MessageId = '' }) => !failed.has(MessageId)),
  );
}

function failedOf(payload: string, messages: readonly Message[]): ReadonlySet<string> {
  const sent = new Set(messages.map(({ MessageId = '' }) => MessageId));
  return failedMessageIds(payload === '' ? null : JSON.parse(payload), sent);
}
