import { expect, test } from 'vitest';
import { runSchedule } from '../../local/cloud/schedule.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';

function createWorld(run: () => Promise<unknown>, firstAfterSeconds?: number) {
  const clock = createVirtualClock();
  const begin = clock.now();
  const stop = new AbortController();
  const { log, lines } = createMemoryLog();
  const startedAt: number[] = [];
  const ended = runSchedule({
    clock,
    name: 'watcher',
    everySeconds: 10,
    ...(firstAfterSeconds !== undefined && { firstAfterSeconds }),
    run: () => {
      startedAt.push((clock.now() - begin) / 1000);
      return run();
    },
    log,
    signal: stop.signal,
  });
  return { clock, startedAt, stop, ended, lines };
}

test('runs at once and then at fixed times, also while older runs still go on', async () => {
  const { clock, startedAt } = createWorld(() => new Promise(() => {}));
  await clock.advance(30_000);
  expect(startedAt).toEqual([0, 10, 20, 30]);
});

test('runs first after the given delay', async () => {
  const { clock, startedAt } = createWorld(async () => {}, 4);
  await clock.advance(15_000);
  expect(startedAt).toEqual([4, 14]);
});

test('tries a run that failed again soon, logs it, and goes on', async () => {
  const { clock, startedAt, lines } = createWorld(() => Promise.reject(new Error('boom')));
  await clock.advance(10_000);
  expect(startedAt).toEqual([0, 1, 6, 10]);
  expect(lines[0]).toMatchObject({
    message: 'scheduled run failed',
    schedule: 'watcher',
    error: 'boom',
  });
});

test('stops on its signal and leaves no timer', async () => {
  const { clock, startedAt, stop, ended } = createWorld(async () => {});
  await clock.advance(12_000);
  stop.abort();
  await ended;
  expect(clock.timers).toBe(0);
  expect(startedAt).toEqual([0, 10]);
});
