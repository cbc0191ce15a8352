import { afterEach, describe, expect, test as vitestTest } from 'vitest';
import type {
  FifoQueue,
  MessageQueue,
  ReceivedMessage,
  StandardQueue,
} from '../../local/cloud/queue.ts';

/** A new, empty queue with a dead-letter queue behind it, and a way to let time pass. */
export interface QueueUnderTest<Q extends MessageQueue> {
  readonly queue: Q;
  readonly deadLetters: MessageQueue;
  /** Really waits where the queue lives by the real clock. */
  readonly passSeconds: (seconds: number) => Promise<void>;
  readonly dispose?: () => Promise<void>;
}

export type MakeQueue<Q extends MessageQueue> = (options: {
  readonly maxReceives: number;
}) => Promise<QueueUnderTest<Q>>;

type Send = (body: string) => Promise<unknown>;

/** Tests that an emulator is known to fail, by name, and why: skipped, visibly. Not for what the product runs on. */
export type KnownGaps = Readonly<Record<string, string>>;

type Test = (name: string, run: () => Promise<void>) => void;

const testUnless =
  (gaps: KnownGaps): Test =>
  (name, run) => {
    const gap = gaps[name];
    if (gap === undefined) vitestTest(name, run);
    else vitestTest.skip(`${name} (not tested: ${gap})`, run);
  };

/** What the product relies on of a standard queue, whoever provides it. */
export function describeStandardQueueContract(
  name: string,
  make: MakeQueue<StandardQueue>,
  gaps: KnownGaps = {},
): void {
  describe(`${name} as a standard queue`, () => {
    const create = disposing(make);
    const test = testUnless(gaps);
    describeDelivery(test, create, (queue) => (body) => queue.send([{ body }]));

    test('hides a message for its delay, then delivers it', async () => {
      const { queue, passSeconds } = await create({ maxReceives: 9 });
      await queue.send([{ body: 'later', delaySeconds: 2 }, { body: 'now' }]);
      expect(bodies(await receive(queue, 60))).toEqual(['now']);
      expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 1, delayed: 1 });
      await passSeconds(2.5);
      expect(bodies(await receive(queue, 60))).toEqual(['later']);
    });

    test('fails to send with a delay above 15 minutes, and stores nothing', async () => {
      const { queue } = await create({ maxReceives: 9 });
      await expect(queue.send([{ body: 'x', delaySeconds: 901 }])).rejects.toThrow(/900/);
      expect(await queue.depth()).toMatchObject({ visible: 0, delayed: 0 });
    });
  });
}

/** What the product relies on of a FIFO queue, whoever provides it. */
export function describeFifoQueueContract(
  name: string,
  make: MakeQueue<FifoQueue>,
  gaps: KnownGaps = {},
): void {
  describe(`${name} as a FIFO queue`, () => {
    const create = disposing(make);
    const test = testUnless(gaps);
    describeDelivery(
      test,
      create,
      (queue) => (body) => queue.send([{ body, group: body, dedupId: body }]),
    );
    describeGroups(test, create);
    describeDeduplication(test, create);
  });
}

function describeDelivery<Q extends MessageQueue>(
  test: Test,
  create: MakeQueue<Q>,
  sendTo: (queue: Q) => Send,
): void {
  test('delivers again after the visibility timeout, with a count and a new handle', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    await sendTo(queue)('a');
    const [first] = await receive(queue, 1);
    expect(await receive(queue, 1)).toEqual([]);
    await passSeconds(1.5);
    const [second] = await receive(queue, 60);
    expect([first?.receiveCount, second?.receiveCount]).toEqual([1, 2]);
    expect(second?.messageId).toBe(first?.messageId);
    expect(second?.sentAt).toBe(first?.sentAt);
    expect(second?.receiptHandle).not.toBe(first?.receiptHandle);
  });

  test('never delivers a deleted message again', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    await sendTo(queue)('a');
    for (const { receiptHandle } of await receive(queue, 1)) await queue.delete(receiptHandle);
    await passSeconds(1.5);
    expect(await receive(queue, 1)).toEqual([]);
    expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 0, delayed: 0 });
  });

  test('keeps a newer delivery when an older handle is used to delete', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    await sendTo(queue)('a');
    const [old] = await receive(queue, 1);
    await passSeconds(1.5);
    const [newer] = await receive(queue, 1);
    // AWS may answer with an error here; what counts is that the message stays.
    await queue.delete(old?.receiptHandle ?? '').catch(() => {});
    await passSeconds(1.5);
    expect((await receive(queue, 60))[0]?.messageId).toBe(newer?.messageId);
  });

  test('changes when a message in flight comes back, to sooner and to later', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    await sendTo(queue)('sooner');
    const [message] = await receive(queue, 600);
    await queue.changeVisibility(message?.receiptHandle ?? '', 0);
    const [again] = await receive(queue, 1);
    expect(again?.body).toBe('sooner');
    await queue.changeVisibility(again?.receiptHandle ?? '', 600);
    await passSeconds(1.5);
    expect(await receive(queue, 1)).toEqual([]);
  });

  test('fails to change the visibility of a message that is not in flight', async () => {
    const { queue } = await create({ maxReceives: 9 });
    await sendTo(queue)('a');
    const [message] = await receive(queue, 60);
    await queue.delete(message?.receiptHandle ?? '');
    await expect(queue.changeVisibility(message?.receiptHandle ?? '', 5)).rejects.toThrow();
  });

  test('gives a message up to the dead-letter queue after its last delivery', async () => {
    const { queue, deadLetters, passSeconds } = await create({ maxReceives: 2 });
    await sendTo(queue)('poison');
    for (const count of [1, 2]) {
      expect((await receive(queue, 1))[0]?.receiveCount).toBe(count);
      await passSeconds(1.5);
    }
    expect(await receive(queue, 1)).toEqual([]);
    expect(bodies(await receive(deadLetters, 60))).toEqual(['poison']);
  });

  test('wakes who waits when a message is sent and when one becomes visible again', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    const { signal } = new AbortController();
    const sent = queue.waitForMessages(signal);
    await sendTo(queue)('a');
    await sent;
    await receive(queue, 1);
    const returned = queue.waitForMessages(signal);
    await passSeconds(1.5);
    await returned;
    expect(bodies(await receive(queue, 60))).toEqual(['a']);
  });
}

function describeGroups(test: Test, create: MakeQueue<FifoQueue>): void {
  test('delivers nothing of a group while one of it is in flight, and other groups meanwhile', async () => {
    const { queue } = await create({ maxReceives: 9 });
    await send(queue, 'a1', 'a2', 'b1');
    const first = await receiveOne(queue);
    const second = await receiveOne(queue);
    expect([first?.body, second?.body]).toEqual(['a1', 'b1']);
    expect(await receiveOne(queue)).toBeUndefined();
    await queue.delete(first?.receiptHandle ?? '');
    expect((await receiveOne(queue))?.body).toBe('a2');
  });

  test('keeps the order of a group when a message comes back', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    await send(queue, 'a1', 'a2', 'a3');
    expect(bodies(await receive(queue, 1))).toEqual(['a1', 'a2', 'a3']);
    await passSeconds(1.5);
    expect(bodies(await receive(queue, 1))).toEqual(['a1', 'a2', 'a3']);
  });

  test('lets a group move on once its head went to the dead-letter queue', async () => {
    const { queue, deadLetters, passSeconds } = await create({ maxReceives: 1 });
    await send(queue, 'a1', 'a2');
    await queue.receive({ max: 1, visibilitySeconds: 1 });
    await passSeconds(1.5);
    expect((await receiveOne(queue))?.body).toBe('a2');
    const [letter] = await receive(deadLetters, 60);
    expect(letter).toMatchObject({ body: 'a1', fifo: { group: 'a', dedupId: 'a1' } });
  });

  test('does not delete by a handle whose visibility has passed', async () => {
    const { queue, passSeconds } = await create({ maxReceives: 9 });
    await send(queue, 'a1');
    const [late] = await receive(queue, 1);
    await passSeconds(1.5);
    await queue.delete(late?.receiptHandle ?? '').catch(() => {});
    expect((await receiveOne(queue))?.body).toBe('a1');
  });
}

function describeDeduplication(test: Test, create: MakeQueue<FifoQueue>): void {
  test('accepts a deduplication id once, also after its message was deleted', async () => {
    const { queue } = await create({ maxReceives: 9 });
    await send(queue, 'a1', 'a1');
    const [message] = await receive(queue, 60);
    await queue.delete(message?.receiptHandle ?? '');
    await send(queue, 'a1');
    expect(await queue.depth()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  for (const [what, group] of [
    ['is empty', ''],
    ['has 129 characters', 'x'.repeat(129)],
    ['has white space', 'white space'],
  ] as const) {
    test(`fails on a group id that ${what}`, async () => {
      const { queue } = await create({ maxReceives: 9 });
      await expect(queue.send([{ body: 'x', group, dedupId: 'd' }])).rejects.toThrow(/group/i);
    });
  }
}

/** `a2` is a message of group `a`. */
const send = (queue: FifoQueue, ...names: readonly string[]) =>
  queue.send(names.map((body) => ({ body, group: body.slice(0, 1), dedupId: body })));

const receive = (queue: MessageQueue, visibilitySeconds: number) =>
  queue.receive({ max: 10, visibilitySeconds });

const receiveOne = async (queue: MessageQueue) =>
  (await queue.receive({ max: 1, visibilitySeconds: 60 }))[0];

const bodies = (messages: readonly ReceivedMessage[]) => messages.map(({ body }) => body);

function disposing<Q extends MessageQueue>(make: MakeQueue<Q>): MakeQueue<Q> {
  const made: QueueUnderTest<Q>[] = [];
  afterEach(async () => {
    for (const { dispose } of made.splice(0)) await dispose?.();
  });
  return async (options) => {
    const created = await make(options);
    made.push(created);
    return created;
  };
}
