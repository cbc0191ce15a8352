import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFifoQueue } from '../../local/cloud/fifo-queue.ts';
import { createLine } from '../../local/cloud/line.ts';
import { createInbox, createWorkQueue } from '../../local/cloud/ports.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import { Timetable } from '../../local/cloud/timetable.ts';
import { createHint } from '../../runtime/hint.ts';
import { createVirtualClock, settled } from '../helpers/cloud-clock.ts';

const job = { group: 'podless.dev', version: 'v1', kind: 'Job', plural: 'jobs' };
const subject = { cluster: 'c', kind: job, namespace: 'default', name: 'x' };

describe('queues in process', () => {
  test('a deduplication id is forgotten after five minutes, not before', async () => {
    const clock = createVirtualClock();
    const queue = createFifoQueue({ clock });
    const send = () => queue.send([{ body: 'x', group: 'g', dedupId: 'd' }]);
    const [first] = await send();
    await clock.advance(299_999);
    expect(await send()).toEqual([first]);
    await clock.advance(1);
    expect(await send()).not.toEqual([first]);
    expect((await queue.depth()).visible).toBe(2);
  });

  test('the age of the oldest message counts from when it could be delivered', async () => {
    const clock = createVirtualClock();
    const queue = createStandardQueue({ clock });
    await queue.send([{ body: 'x', delaySeconds: 100 }]);
    await clock.advance(90_000);
    expect(await queue.depth()).toMatchObject({ delayed: 1, oldestAgeSeconds: 0 });
    await clock.advance(15_000);
    expect(await queue.depth()).toMatchObject({ visible: 1, oldestAgeSeconds: 5 });
    await queue.receive({ max: 1, visibilitySeconds: 60 });
    await clock.advance(5_000);
    expect(await queue.depth()).toMatchObject({ inFlight: 1, oldestAgeSeconds: 10 });
  });

  test('a queue that is waited on has one timer if something is hidden, and none if it is empty', async () => {
    const clock = createVirtualClock();
    const queue = createStandardQueue({ clock });
    const stop = new AbortController();
    const waiting = queue.waitForMessages(stop.signal);
    await settled();
    expect(clock.timers).toBe(0);
    await queue.send(Array.from({ length: 50 }, () => ({ body: 'x', delaySeconds: 900 })));
    await settled();
    expect(clock.timers).toBe(1);
    stop.abort();
    await waiting;
    expect(clock.timers).toBe(0);
  });

  test('a deleted message is not delivered although it stood in the line', async () => {
    const clock = createVirtualClock();
    const queue = createStandardQueue({ clock });
    await queue.send([{ body: 'a' }, { body: 'b' }]);
    const [message] = await queue.receive({ max: 1, visibilitySeconds: 1 });
    await clock.advance(1000);
    await queue.delete(message?.receiptHandle ?? '');
    const rest = await queue.receive({ max: 10, visibilitySeconds: 1 });
    expect(rest.map(({ body }) => body)).toEqual(['b']);
  });

  test('40,000 messages of blocked groups do not slow down others', async () => {
    const clock = createVirtualClock();
    const queue = createFifoQueue({ clock });
    const blocked = (index: number) => ({
      body: 'x',
      group: `blocked${index % 2}`,
      dedupId: `blocked${index}`,
    });
    await queue.send(Array.from({ length: 40_000 }, (_, index) => blocked(index)));
    for (const _group of [0, 1]) await queue.receive({ max: 1, visibilitySeconds: 3600 });
    const startedAt = performance.now();
    for (let index = 0; index < 10_000; index += 1) {
      await queue.send([{ body: `${index}`, group: `free${index}`, dedupId: `free${index}` }]);
      const [message] = await queue.receive({ max: 1, visibilitySeconds: 60 });
      expect(message?.body).toBe(`${index}`);
      await queue.delete(message?.receiptHandle ?? '');
    }
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });

  test('the inbox port stores hints as bodies, with whole seconds within the limit', async () => {
    const clock = createVirtualClock();
    const queue = createStandardQueue({ clock });
    const hint = createHint(subject, 'Changed', '1');
    await createInbox(queue).send([
      { hint, delaySeconds: 0 },
      { hint, delaySeconds: 0.2 },
      { hint, delaySeconds: 5000 },
    ]);
    expect(await queue.depth()).toMatchObject({ visible: 1, delayed: 2 });
    const [message] = await queue.receive({ max: 1, visibilitySeconds: 60 });
    expect(JSON.parse(message?.body ?? '')).toEqual(hint);
    await clock.advance(900_000);
    expect(await queue.depth()).toMatchObject({ delayed: 0 });
  });

  test('the work queue port brings a failed message back when asked', async () => {
    const clock = createVirtualClock();
    const queue = createFifoQueue({ clock });
    await queue.send([{ body: 'x', group: 'g', dedupId: 'd' }]);
    const [message] = await queue.receive({ max: 1, visibilitySeconds: 600 });
    await createWorkQueue(queue).retryAfter(message?.receiptHandle ?? '', 7.5);
    await clock.advance(7_900);
    expect((await queue.depth()).inFlight).toBe(1);
    await clock.advance(100);
    expect((await queue.depth()).visible).toBe(1);
  });
});

test('a timetable gives out what is due in order of time, whatever was moved or removed', () => {
  const change = fc.record({
    item: fc.nat(20),
    dueAt: fc.option(fc.nat(100), { nil: undefined }),
  });
  const property = fc.property(fc.array(change), (changes) => {
    const timetable = new Timetable<number>();
    const expected = new Map<number, number>();
    for (const { item, dueAt } of changes) {
      expected.delete(item);
      if (dueAt === undefined) timetable.remove(item);
      else {
        timetable.set(item, dueAt);
        expected.set(item, dueAt);
      }
    }
    const taken: number[] = [];
    for (let next = timetable.takeDue(50); next !== undefined; next = timetable.takeDue(50)) {
      taken.push(next);
    }
    const due = [...expected].filter(([, dueAt]) => dueAt <= 50);
    // Sorting keeps the order of equal times, which is the order of entry.
    expect(taken).toEqual(due.sort((one, other) => one[1] - other[1]).map(([item]) => item));
  });
  fc.assert(property);
});

test('a line gives items back in the order they came, over its compactions', () => {
  const line = createLine<number>();
  const taken: (number | undefined)[] = [];
  for (let index = 0; index < 10_000; index += 1) {
    line.push(index);
    if (index % 3 !== 0) taken.push(line.shift());
  }
  while (line.length > 0) taken.push(line.shift());
  expect(taken).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  expect(line.shift()).toBeUndefined();
});
