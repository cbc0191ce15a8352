import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import { environmentNames } from '../../runtime/aws/environment.ts';
import { inboxesOf, workQueuesOf } from '../../runtime/aws/queues.ts';
import { createHint } from '../../runtime/hint.ts';
import {
  cutOff,
  type HostileService,
  refuse,
  reply,
  reset,
  type ServiceBehaviour,
  type ServiceCall,
  startHostileService,
  storedEntries,
} from '../helpers/aws-hostile-service.ts';
import { widgetKind, widgetOperator } from '../helpers/runtime-widget.ts';
import { createTestClock } from '../helpers/runtime-world.ts';

const { name } = widgetOperator;

const portsAt = ({ url }: HostileService) => {
  const environment = {
    [environmentNames.inbox(name)]: `${url}/1/podless-widget-inbox`,
    [environmentNames.work(name)]: `${url}/1/podless-widget-work.fifo`,
  };
  const context = { environment, region: 'us-east-1', clock: createTestClock() };
  const inbox = inboxesOf([widgetOperator])(context).get(name);
  const workQueue = workQueuesOf([widgetOperator])(context).get(name);
  if (!inbox || !workQueue) throw new Error('both ports must be there');
  return { inbox, workQueue };
};

const hintsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    hint: createHint(
      { cluster: 'main', kind: widgetKind, namespace: 'default', name: `w${index}` },
      'Requeue: x',
      '1',
    ),
    delaySeconds: index,
  }));

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly DelaySeconds: number;
}

const entriesOf = ({ body }: ServiceCall) => body['Entries'] as readonly Entry[];
const namesOf = (call: ServiceCall): string[] =>
  entriesOf(call).map(({ MessageBody }) => JSON.parse(MessageBody).name);

/** Stores all but the messages at these places of the batch; tells of those in `Failed`, or not at all. */
const store =
  (
    places: readonly number[] = [],
    failure?: { Code: string; SenderFault: boolean },
  ): ServiceBehaviour =>
  (response, call) => {
    const all = entriesOf(call);
    const failed = all.filter((_, index) => places.includes(index));
    const Successful = storedEntries(all.filter((entry) => !failed.includes(entry)));
    const Failed = failure ? failed.map(({ Id }) => ({ Id, Message: 'no', ...failure })) : [];
    reply({ Successful, Failed })(response, call);
  };

describe('an inbox', () => {
  test('sends again only the messages that were not stored, with their delays', async () => {
    await using service = await startHostileService(
      store([1, 3], { Code: 'InternalError', SenderFault: false }),
      store(),
    );
    await portsAt(service).inbox.send(hintsOf(5));
    expect(service.calls.map(namesOf)).toEqual([
      ['w0', 'w1', 'w2', 'w3', 'w4'],
      ['w1', 'w3'],
    ]);
    expect(service.calls.flatMap(entriesOf).map(({ DelaySeconds }) => DelaySeconds)).toEqual([
      0, 1, 2, 3, 4, 1, 3,
    ]);
  });

  test('takes a message that the answer does not name for not stored', async () => {
    await using service = await startHostileService(store([0]), store());
    await portsAt(service).inbox.send(hintsOf(2));
    expect(service.calls.map(namesOf)).toEqual([['w0', 'w1'], ['w0']]);
  });

  test.each<[string, ServiceBehaviour]>([
    ['throttled', refuse(400, 'ThrottlingException')],
    ['a reset connection', reset],
    ['an answer that is cut off', cutOff],
  ])('sends again after %s', async (_, behaviour) => {
    await using service = await startHostileService(behaviour, store());
    await portsAt(service).inbox.send(hintsOf(2));
    expect(service.calls.map(namesOf)).toEqual([
      ['w0', 'w1'],
      ['w0', 'w1'],
    ]);
  });

  test('fails, and names the queue, if a message is refused for good', async () => {
    const failure = { Code: 'InvalidMessageContents', SenderFault: true };
    await using service = await startHostileService(store([0], failure));
    await expect(portsAt(service).inbox.send(hintsOf(1))).rejects.toThrow(
      'SendMessageBatch on queue podless-widget-inbox did not take 1 of 1 entries in 3 tries: 1 InvalidMessageContents; no',
    );
  });
});

describe('a work queue', () => {
  test.each([
    [0, 0],
    [1.2, 2],
    [-3, 0],
    [300, 300],
    [1e9, 42_300],
  ])('asked to bring a message back after %d seconds says %d', async (asked, said) => {
    await using service = await startHostileService(reply({}));
    await portsAt(service).workQueue.retryAfter('handle', asked);
    expect(service.calls.map(({ body }) => body)).toEqual([
      {
        QueueUrl: `${service.url}/1/podless-widget-work.fifo`,
        ReceiptHandle: 'handle',
        VisibilityTimeout: said,
      },
    ]);
  });

  test('tries again what passes, three times in all', async () => {
    await using passing = await startHostileService(refuse(503, 'ServiceUnavailable'), reply({}));
    await portsAt(passing).workQueue.retryAfter('handle', 1);
    expect(passing.calls).toHaveLength(2);
    await using lasting = await startHostileService(refuse(503, 'ServiceUnavailable'));
    await expect(portsAt(lasting).workQueue.retryAfter('handle', 1)).rejects.toThrow(
      'ChangeMessageVisibility on queue podless-widget-work.fifo failed: ServiceUnavailable (HTTP 503)',
    );
    expect(lasting.calls).toHaveLength(3);
  });

  test('does not try again what is refused', async () => {
    await using service = await startHostileService(refuse(400, 'ReceiptHandleIsInvalid'));
    await expect(portsAt(service).workQueue.retryAfter('old', 1)).rejects.toThrow(
      /ReceiptHandleIsInvalid/,
    );
    expect(service.calls).toHaveLength(1);
  });
});
