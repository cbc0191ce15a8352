import { expect, test } from 'vitest';
import { runEventSourceMapping } from '../../local/cloud/event-source-mapping.ts';
import { createFifoQueue } from '../../local/cloud/fifo-queue.ts';
import type { SqsEvent } from '../../local/cloud/sqs-event.ts';
import { createVirtualClock, settled } from '../helpers/cloud-clock.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';

interface WorldOptions {
  readonly batchSize?: number;
  readonly maximumConcurrency?: number;
  readonly retryFailedRunSeconds?: number;
}

function createWorld(invoke: (event: SqsEvent) => Promise<unknown>, options: WorldOptions = {}) {
  const clock = createVirtualClock();
  const deadLetters = createFifoQueue({ clock });
  const queue = createFifoQueue({ clock, deadLetters: { queue: deadLetters, maxReceives: 3 } });
  const stop = new AbortController();
  const { log, lines } = createMemoryLog();
  const ended = runEventSourceMapping({
    clock,
    queue,
    queueArn: 'arn:aws:sqs:eu-west-1:000000000000:podless-x.fifo',
    invoke,
    maximumConcurrency: 10,
    visibilitySeconds: 60,
    log,
    signal: stop.signal,
    ...options,
  });
  const send = (...names: readonly string[]) =>
    queue.send(names.map((body) => ({ body, group: body.slice(0, 1), dedupId: body })));
  return { clock, queue, deadLetters, send, stop, ended, lines };
}

const bodiesOf = (event: SqsEvent) => event.Records.map(({ body }) => body);

test('invokes with the event shape of Lambda, then deletes', async () => {
  const events: SqsEvent[] = [];
  const { clock, queue, send } = createWorld(async (event) => {
    events.push(event);
    return { batchItemFailures: [] };
  });
  await send('a1');
  await settled();
  expect(events).toEqual([
    {
      Records: [
        {
          messageId: expect.any(String),
          receiptHandle: expect.any(String),
          body: 'a1',
          attributes: {
            ApproximateReceiveCount: '1',
            SentTimestamp: String(clock.now()),
            ApproximateFirstReceiveTimestamp: String(clock.now()),
            MessageGroupId: 'a',
            MessageDeduplicationId: 'a1',
            SequenceNumber: '00000000000000000001',
          },
          messageAttributes: {},
          eventSource: 'aws:sqs',
          eventSourceARN: 'arn:aws:sqs:eu-west-1:000000000000:podless-x.fifo',
          awsRegion: 'eu-west-1',
        },
      ],
    },
  ]);
  expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 0 });
});

test('one poison message of ten comes back alone; nine run once', async () => {
  const runs = new Map<string, number>();
  const { clock, send, deadLetters } = createWorld(
    async (event) => {
      for (const body of bodiesOf(event)) runs.set(body, (runs.get(body) ?? 0) + 1);
      const failed = event.Records.filter(({ body }) => body === 'e');
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    },
    { batchSize: 10 },
  );
  await send('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j');
  await clock.advance(600_000);
  expect(runs.get('e')).toBe(3);
  expect([...runs.values()].filter((count) => count === 1)).toHaveLength(9);
  expect(await deadLetters.depth()).toMatchObject({ visible: 1 });
});

test.each([null, {}, { batchItemFailures: null }, { batchItemFailures: [] }])(
  'the answer %j means success',
  async (answer) => {
    const { queue, send } = createWorld(async () => answer);
    await send('a1');
    await settled();
    expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 0 });
  },
);

test.each([
  undefined,
  '',
  'done',
  [],
  { batchItemFailures: 'a1' },
  { batchItemFailures: [{ itemIdentifier: '' }] },
  { batchItemFailures: [{ itemIdentifier: null }] },
  { batchItemFailures: [{ wrongKey: 'x' }] },
  { batchItemFailures: [{ itemIdentifier: 'of another batch' }] },
])('the answer %j means failure of the whole batch', async (answer) => {
  const { queue, send, lines } = createWorld(async () => answer, { batchSize: 10 });
  await send('a1', 'b1');
  await settled();
  expect(await queue.depth()).toMatchObject({ inFlight: 2 });
  expect(lines[0]?.error).toMatch(/answer of the function must have/);
});

test('a run that fails leaves its messages to the visibility timeout', async () => {
  let failing = true;
  const { clock, queue, send } = createWorld(async () => {
    if (failing) throw new Error('killed');
    return null;
  });
  await send('a1');
  await clock.advance(59_000);
  expect(await queue.depth()).toMatchObject({ inFlight: 1 });
  failing = false;
  await clock.advance(1_000);
  expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 0 });
});

test('a run that fails is tried again sooner if asked for, counted from its end', async () => {
  const startedAt: number[] = [];
  const { clock, send, deadLetters } = createWorld(
    async () => {
      startedAt.push(clock.now());
      await clock.sleep(5_000);
      throw new Error('killed');
    },
    { retryFailedRunSeconds: 1 },
  );
  const begin = clock.now();
  await send('a1');
  await clock.advance(30_000);
  expect(startedAt.map((at) => at - begin)).toEqual([0, 6_000, 12_000]);
  expect(await deadLetters.depth()).toMatchObject({ visible: 1 });
});

test('runs as many groups at once as allowed, and a group only once', async () => {
  const running = new Map<string, number>();
  let most = 0;
  const { clock, queue, send } = createWorld(
    async (event) => {
      const group = bodiesOf(event)[0]?.slice(0, 1) ?? '';
      running.set(group, (running.get(group) ?? 0) + 1);
      expect(running.get(group)).toBe(1);
      most = Math.max(
        most,
        [...running.values()].reduce((sum, count) => sum + count, 0),
      );
      await clock.sleep(1_000);
      running.set(group, 0);
      return null;
    },
    { maximumConcurrency: 3 },
  );
  await send('a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'e1');
  await clock.advance(10_000);
  expect(most).toBe(3);
  expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 0 });
});

test('stops taking messages at once, and ends when the last run has ended', async () => {
  const { clock, queue, send, stop, ended } = createWorld(async () => {
    await clock.sleep(5_000);
    return null;
  });
  await send('a1');
  await settled();
  stop.abort();
  await send('b1');
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  await clock.advance(4_000);
  expect(hasEnded).toBe(false);
  await clock.advance(1_000);
  expect(hasEnded).toBe(true);
  expect(await queue.depth()).toMatchObject({ visible: 1, inFlight: 0 });
  expect(clock.timers).toBe(0);
});
