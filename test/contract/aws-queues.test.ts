import '../helpers/dynamodb-credentials.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReceivedMessage } from '../../local/cloud/queue.ts';
import { environmentNames } from '../../runtime/aws/environment.ts';
import { inboxesOf, workQueuesOf } from '../../runtime/aws/queues.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createHint } from '../../runtime/hint.ts';
import { type AwsQueues, createAwsQueues } from '../helpers/aws-queues.ts';
import {
  describeFifoQueueContract,
  describeStandardQueueContract,
} from '../helpers/cloud-queue-contract.ts';
import { type Moto, motoMissing, motoName, startMoto } from '../helpers/moto.ts';
import { widgetKind, widgetOperator } from '../helpers/runtime-widget.ts';

const deliveryGaps = {
  'keeps a newer delivery when an older handle is used to delete':
    'moto deletes by any handle a message ever had',
};
const fifoGaps = {
  ...deliveryGaps,
  'keeps the order of a group when a message comes back': 'moto gives back the last one only',
  'does not delete by a handle whose visibility has passed': 'moto does',
  'accepts a deduplication id once, also after its message was deleted':
    'moto forgets the id with its message',
  'fails on a group id that has 129 characters': 'moto takes it',
  'fails on a group id that has white space': 'moto takes it',
};

describe.skipIf(motoMissing)(motoName, () => {
  let moto: Moto;
  let queues: AwsQueues;
  beforeAll(async () => {
    moto = await startMoto();
    queues = createAwsQueues(moto.url);
  });
  afterAll(() => moto?.stop());

  const passSeconds = (seconds: number) => systemClock.sleep(seconds * 1000);
  const makePair = async (fifo: boolean, maxReceives: number) => {
    const letters = await queues.create({ fifo });
    const queue = await queues.create({ fifo, deadLetters: { arn: letters.arn, maxReceives } });
    return [queue.url, letters.url] as const;
  };

  describeStandardQueueContract(
    'SQS through our port',
    async ({ maxReceives }) => {
      const [queue, deadLetters] = await makePair(false, maxReceives);
      return {
        queue: queues.standard(queue),
        deadLetters: queues.standard(deadLetters),
        passSeconds,
      };
    },
    deliveryGaps,
  );

  describeFifoQueueContract(
    'SQS through our port',
    async ({ maxReceives }) => {
      const [queue, deadLetters] = await makePair(true, maxReceives);
      return { queue: queues.fifo(queue), deadLetters: queues.fifo(deadLetters), passSeconds };
    },
    fifoGaps,
  );

  describe('the ports of an operator', () => {
    const { name } = widgetOperator;
    const contextOf = (environment: Record<string, string>) => ({
      environment,
      region: 'us-east-1',
      clock: systemClock,
    });
    const hintOf = (index: number) =>
      createHint(
        { cluster: 'main', kind: widgetKind, namespace: 'default', name: `w${index}` },
        'Resync',
        'test',
      );

    test('store more hints than one call can hold, each as JSON of the hint alone', async () => {
      const { url } = await queues.create();
      const inbox = inboxesOf([widgetOperator])(
        contextOf({ [environmentNames.inbox(name)]: url }),
      ).get(name);
      const hints = Array.from({ length: 25 }, (_, index) => hintOf(index));
      await inbox?.send(hints.map((hint) => ({ hint, delaySeconds: 0 })));
      const bodies = (await receiveAll(url)).map(({ body }) => JSON.parse(body).name);
      expect(bodies.toSorted()).toEqual(hints.map((hint) => hint.name).toSorted());
    });

    test('round a delay up to whole seconds and down to 15 minutes, and never below none', async () => {
      const { url } = await queues.create();
      const inbox = inboxesOf([widgetOperator])(
        contextOf({ [environmentNames.inbox(name)]: url }),
      ).get(name);
      const delays = [-5, 0, 0.2, 100_000];
      await inbox?.send(
        delays.map((delaySeconds, index) => ({ hint: hintOf(index), delaySeconds })),
      );
      expect(await queues.standard(url).depth()).toMatchObject({ visible: 2, delayed: 2 });
    });

    test('bring a message back after the time that was asked for, at most 12 hours', async () => {
      const { url } = await queues.create({ fifo: true });
      const work = workQueuesOf([widgetOperator])(
        contextOf({ [environmentNames.work(name)]: url }),
      ).get(name);
      const queue = queues.fifo(url);
      await queue.send([{ body: '1', group: 'a', dedupId: '1' }]);
      const [first] = await queue.receive({ max: 1, visibilitySeconds: 600 });
      await work?.retryAfter(first?.receiptHandle ?? '', 0);
      const [again] = await queue.receive({ max: 1, visibilitySeconds: 600 });
      expect(again?.receiveCount).toBe(2);
      await work?.retryAfter(again?.receiptHandle ?? '', 1e9);
      expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 1 });
    });

    test('say which queue and which call failed', async () => {
      const { url } = await queues.create();
      const gone = `${url}-gone`;
      const environment = {
        [environmentNames.inbox(name)]: gone,
        [environmentNames.work(name)]: gone,
      };
      const inbox = inboxesOf([widgetOperator])(contextOf(environment)).get(name);
      const work = workQueuesOf([widgetOperator])(contextOf(environment)).get(name);
      const queueName = gone.slice(gone.lastIndexOf('/') + 1);
      await expect(inbox?.send([{ hint: hintOf(1), delaySeconds: 0 }])).rejects.toThrow(
        new RegExp(
          `SendMessageBatch on queue ${queueName} did not take 1 of 1 .*QueueDoesNotExist`,
        ),
      );
      await expect(work?.retryAfter('x', 1)).rejects.toThrow(
        new RegExp(`ChangeMessageVisibility on queue ${queueName} failed: QueueDoesNotExist`),
      );
    });

    async function receiveAll(url: string): Promise<readonly ReceivedMessage[]> {
      const queue = queues.standard(url);
      const all: ReceivedMessage[] = [];
      for (;;) {
        const batch = await queue.receive({ max: 10, visibilitySeconds: 600 });
        if (batch.length === 0) return all;
        all.push(...batch);
      }
    }
  });
});
