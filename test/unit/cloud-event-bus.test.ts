import { expect, test } from 'vitest';
import { createEventBus } from '../../local/cloud/event-bus.ts';
import { type EventPattern, matchesPattern } from '../../local/cloud/event-pattern.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';

const entry = { source: 'podless', detailType: 'Job', detail: '{"name":"x"}' };

function createWorld(deliver: (detail: string) => Promise<void>) {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const { log, lines } = createMemoryLog();
  const rules = [{ name: 'jobs', pattern: { source: ['podless'] }, targets: [{ deliver }] }];
  const bus = createEventBus({ clock, rules, log, signal: stop.signal, maxAttempts: 5 });
  return { clock, stop, lines, bus };
}

test('a target that fails is tried again until it takes the event', async () => {
  const taken: string[] = [];
  let failuresLeft = 3;
  const { clock, bus } = createWorld(async (detail) => {
    failuresLeft -= 1;
    if (failuresLeft >= 0) throw new Error('not yet');
    taken.push(detail);
  });
  await bus.putEvents([entry]);
  expect(taken).toEqual([]);
  await clock.advance(60_000);
  expect(taken).toEqual([entry.detail]);
  expect(clock.timers).toBe(0);
});

test('an event whose target never takes it is dropped with an error line', async () => {
  const { clock, bus, lines } = createWorld(() => Promise.reject(new Error('broken')));
  await bus.putEvents([entry]);
  await clock.advance(3_600_000);
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { message: 'event dropped, its target keeps failing', rule: 'jobs', attempt: 5 },
  ]);
});

test('stopping ends retries', async () => {
  const { clock, bus, stop } = createWorld(() => Promise.reject(new Error('broken')));
  await bus.putEvents([entry]);
  await clock.advance(1);
  stop.abort();
  expect(clock.timers).toBe(0);
});

test('an entry that is malformed is refused alone', async () => {
  const taken: string[] = [];
  const { bus } = createWorld(async (detail) => void taken.push(detail));
  const results = await bus.putEvents([
    { ...entry, detail: 'not json' },
    entry,
    { ...entry, detail: '[1]' },
  ]);
  expect(results.map((result) => 'errorCode' in result)).toEqual([true, false, true]);
  expect(taken).toEqual([entry.detail]);
});

test.each<[EventPattern, boolean]>([
  [{ a: [1] }, true],
  [{ a: [2, 1] }, true],
  [{ a: ['1'] }, false],
  [{ list: ['y'] }, true],
  [{ nested: { deep: [null] } }, true],
  [{ nested: { deep: [null], other: ['x'] } }, false],
  [{ missing: { deep: ['x'] } }, false],
  [{ toString: ['x'] }, false],
])('pattern %j matches: %s', (pattern, expected) => {
  const event = { a: 1, list: ['x', 'y'], nested: { deep: null } };
  expect(matchesPattern(pattern, event)).toBe(expected);
});

test.each([
  [{}, 'at least one key'],
  [{ source: [] }, 'source must list a value'],
  [{ detail: { name: [{ prefix: 'a' }] } }, 'detail.name must list strings'],
])('fails on the pattern %j', (pattern, message) => {
  const create = () =>
    createEventBus({
      clock: createVirtualClock(),
      rules: [{ name: 'bad', pattern: pattern as EventPattern, targets: [] }],
      log: createMemoryLog().log,
      signal: new AbortController().signal,
    });
  expect(create).toThrow(message);
});
