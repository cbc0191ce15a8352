import { expect, test } from 'vitest';
import { createFifoQueue } from '../../local/cloud/fifo-queue.ts';
import { runPipe } from '../../local/cloud/pipe.ts';
import type { FifoQueue } from '../../local/cloud/queue.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';

function createWorld(wrap: (target: FifoQueue) => FifoQueue = (target) => target) {
  const clock = createVirtualClock();
  const deadLetters = createStandardQueue({ clock });
  const inbox = createStandardQueue({ clock, deadLetters: { queue: deadLetters, maxReceives: 3 } });
  const work = createFifoQueue({ clock });
  const stop = new AbortController();
  const { log } = createMemoryLog();
  const { signal } = stop;
  const ended = runPipe({ source: inbox, target: wrap(work), log, signal });
  return { clock, inbox, work, deadLetters, stop, ended };
}

const hint = (group: string, dedupId: string) => JSON.stringify({ group, dedupId, name: 'x' });

test('moves messages with group and deduplication id from the body, when their delay is over', async () => {
  const { clock, inbox, work } = createWorld();
  await inbox.send([
    { body: hint('g', '1') },
    { body: hint('g', '1') },
    { body: hint('g', '2'), delaySeconds: 600 },
  ]);
  await clock.advance(1000);
  expect(await work.depth()).toMatchObject({ visible: 1 });
  await clock.advance(600_000);
  expect(await work.depth()).toMatchObject({ visible: 2 });
  expect(await inbox.depth()).toMatchObject({ visible: 0, inFlight: 0, delayed: 0 });
  const messages = await work.receive({ max: 10, visibilitySeconds: 60 });
  expect(messages.map(({ body, fifo }) => [body, fifo?.group, fifo?.dedupId])).toEqual([
    [hint('g', '1'), 'g', '1'],
    [hint('g', '2'), 'g', '2'],
  ]);
});

test('a message without group or deduplication id ends in the dead-letter queue and stops nothing', async () => {
  const { clock, inbox, work, deadLetters } = createWorld();
  const poison = [
    'not json',
    '{}',
    'null',
    '{"group":"g"}',
    hint('white space', '1'),
    hint('', '1'),
  ];
  const good = Array.from({ length: 20 }, (_, index) => hint(`g${index}`, '1'));
  // Different deduplication ids, or the FIFO queue would drop them.
  const bodies = good.map((body, index) => body.replace('"1"', `"${index}"`));
  await inbox.send([...poison, ...bodies].map((body) => ({ body })));
  await clock.advance(1000);
  expect(await work.depth()).toMatchObject({ visible: 20 });
  await clock.advance(300_000);
  expect(await deadLetters.depth()).toMatchObject({ visible: poison.length });
  expect(await inbox.depth()).toMatchObject({ visible: 0, inFlight: 0 });
});

test('messages stay in the inbox while the work queue refuses them', async () => {
  let failuresLeft = 2;
  const { clock, inbox, work } = createWorld((target) => ({
    ...target,
    send: async (messages) => {
      failuresLeft -= 1;
      if (failuresLeft >= 0) throw new Error('unavailable');
      return target.send(messages);
    },
  }));
  await inbox.send([{ body: hint('g', '1') }]);
  await clock.advance(1000);
  expect(await inbox.depth()).toMatchObject({ inFlight: 1 });
  await clock.advance(120_000);
  expect(await inbox.depth()).toMatchObject({ inFlight: 0 });
  expect(await work.depth()).toMatchObject({ visible: 1 });
});

test('ends when stopped and leaves no timer', async () => {
  const { clock, inbox, stop, ended } = createWorld();
  await inbox.send([{ body: hint('g', '1'), delaySeconds: 900 }]);
  await clock.advance(1000);
  stop.abort();
  await ended;
  expect(clock.timers).toBe(0);
});
