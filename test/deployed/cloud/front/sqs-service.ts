import { createWakeup, type Wakeup } from '../../../../local/cloud/wakeup.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import { HarnessGap } from '../iam/gap.ts';
import { isList, isObject, type JsonObject } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Moto } from './moto.ts';
import type { QueueModel } from './queue-model.ts';
import { createQueueOperations, type QueueOperation } from './queue-operations.ts';
import { jsonReply, ServiceError } from './replies.ts';
import type { Service } from './service.ts';

export interface SqsOptions {
  readonly moto: Moto;
  readonly queues: readonly QueueModel[];
  readonly timeScale: number;
}

export interface SqsService extends Service {
  /** Something came into the queue by another way than this service. */
  wake(queue: string): void;
  /** Receipt handles of the messages that are in flight. */
  handlesOf(queue: string): readonly string[];
}

/** Queues are kept by moto; what it lacks is added here. */
export function createSqsService({ moto, queues, timeScale }: SqsOptions): SqsService {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const wakeups = new Map<string, Wakeup>(
    queues.map(({ name }) => [name, createWakeup(systemClock)]),
  );
  const { operations, handlesOf } = createQueueOperations({
    moto,
    timeScale,
    changeOf: async ({ name }, until, signal) => wakeups.get(name)?.wait(signal, until),
  });

  const queueOf = (url: unknown): QueueModel => {
    const queue = byName.get(String(url).replace(/^.*\//, ''));
    if (queue) return queue;
    const message = `The specified queue does not exist: ${String(url)}`;
    throw new ServiceError('com.amazonaws.sqs#QueueDoesNotExist', message);
  };

  return {
    wake: (name) => wakeups.get(name)?.notify(),
    handlesOf: (name) => handlesOf(queueOf(name)),
    async accesses(call) {
      const known = find(operations, call.operation);
      if (!known) throw new HarnessGap(`the harness does not know sqs:${call.operation}`);
      const { arn, policies } = queueOf(call.input['QueueUrl']);
      return [{ action: `sqs:${known.single}`, resource: arn, resourcePolicies: policies }];
    },
    async answer(call) {
      const known = find(operations, call.operation);
      if (!known) return moto.pass(call);
      const queue = queueOf(call.input['QueueUrl']);
      const output = known.isBatch
        ? await runBatch(call, queue, known.operation)
        : await known.operation(call, queue, call.input);
      // A deleted message may have held up its group, a receive may have moved one to the dead letters.
      wakeups.get(queue.name)?.notify();
      return jsonReply(200, output);
    },
  };
}

function find(operations: Readonly<Record<string, QueueOperation>>, name: string) {
  const isBatch = name.endsWith('Batch');
  const single = isBatch ? name.slice(0, -'Batch'.length) : name;
  const operation = Object.hasOwn(operations, single) ? operations[single] : undefined;
  return operation && { operation, single, isBatch };
}

/** moto refuses a batch as a whole if one entry is wrong; AWS refuses that entry only. */
async function runBatch(
  call: AwsCall,
  queue: QueueModel,
  operation: QueueOperation,
): Promise<JsonObject> {
  const { Entries, ...common } = call.input;
  const entries = isList(Entries) ? Entries.filter(isObject) : [];
  checkBatch(entries);
  const Successful: JsonObject[] = [];
  const Failed: JsonObject[] = [];
  for (const { Id = '', ...entry } of entries) {
    try {
      Successful.push({ Id, ...(await operation(call, queue, { ...common, ...entry })) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      Failed.push({ Id, SenderFault: true, Code: error.code, Message: error.message });
    }
  }
  return { Successful, Failed };
}

function checkBatch(entries: readonly JsonObject[]): void {
  const ids = new Set(entries.map(({ Id }) => Id));
  if (entries.length === 0) throw batchError('EmptyBatchRequest', entries);
  if (entries.length > 10) throw batchError('TooManyEntriesInBatchRequest', entries);
  if (ids.size < entries.length) throw batchError('BatchEntryIdsNotDistinct', entries);
}

const batchError = (code: string, entries: readonly JsonObject[]): ServiceError =>
  new ServiceError(`com.amazonaws.sqs#${code}`, `${code}: got ${entries.length} entries`);
