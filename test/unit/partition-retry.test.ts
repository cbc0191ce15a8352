import { expect, test } from 'vitest';
import { createRetry } from '../../functions/ddbctldpjob/retry.ts';
import { TableFault } from '../../functions/ddbctldpjob/table.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

const { signal } = new AbortController();
const throttled = new TableFault('throttled', 'slow down', false);

/** A call that fails so often, and the times at which it was tried. */
function createAttempts(failures: number, fault: TableFault) {
  const clock = createVirtualClock();
  const hurry = new AbortController();
  const retry = createRetry({ clock, random: () => 1, hurry: hurry.signal });
  const startedAt = clock.now();
  const times: number[] = [];
  const call = retry.call(
    async () => {
      times.push(clock.now() - startedAt);
      if (times.length <= failures) throw fault;
      return 'answered';
    },
    () => signal,
  );
  return { clock, hurry, times, call };
}

test('waits twice as long each time, up to five seconds', async () => {
  const { clock, times, call } = createAttempts(9, throttled);
  await clock.advance(60_000);
  expect(await call).toBe('answered');
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(waits).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

test('ends its wait when there is little time left, and waits shortly from then on', async () => {
  const { clock, hurry, times, call } = createAttempts(12, throttled);
  await clock.advance(3_300);
  hurry.abort();
  await clock.advance(1_000);
  expect(await call).toBe('answered');
  expect(times.at(-1)).toBeLessThanOrEqual(3_300 + 6 * 100);
});

test('does not give up by count while it hurries: the signal ends it', async () => {
  const lost = new TableFault('unreachable', 'no answer', true);
  const { clock, hurry, times, call } = createAttempts(20, lost);
  hurry.abort();
  await clock.advance(3_000);
  expect(await call).toBe('answered');
  expect(times).toHaveLength(21);
});
