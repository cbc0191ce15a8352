import { describe, expect, test } from 'vitest';
import { isSqsEvent, processBatch } from '../../runtime/sqs-batch.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';
import { sqsRecord } from '../helpers/runtime-world.ts';

interface Attempt {
  readonly receiptHandle: string;
  readonly seconds: number;
}

function createBatch(poison: readonly string[] = [], queueFails = false) {
  const handled: unknown[] = [];
  const retries: Attempt[] = [];
  const { log, lines } = createMemoryLog();
  const run = (...records: ReturnType<typeof sqsRecord>[]) =>
    processBatch(
      { Records: records },
      {
        handle: async (body) => {
          await Promise.resolve();
          if (poison.includes(String(body))) throw new Error(`${String(body)} is poison`);
          handled.push(body);
        },
        workQueue: {
          retryAfter: async (receiptHandle, seconds) => {
            if (queueFails) throw new Error('queue is away');
            retries.push({ receiptHandle, seconds });
          },
        },
        remainingMilliseconds: () => 60_000,
        log,
      },
    );
  return { handled, retries, lines, run };
}

const message = (name: string, group = name, receives = 1) =>
  sqsRecord(JSON.stringify(name), name, group, receives);

const failed = (...names: readonly string[]) => ({
  batchItemFailures: names.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('a batch', () => {
  test('of good messages is acknowledged whole', async () => {
    const { run, handled } = createBatch();
    expect(await run(message('a'), message('b', 'a'), message('c'))).toEqual(failed());
    expect(handled.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('gives back one poisoned of ten, once it is not another one that fails', async () => {
    const names = 'abcdefghij'.split('');
    const { run, handled, lines } = createBatch(['e']);
    expect(await run(...names.map((name) => message(name)))).toEqual(failed('e'));
    expect(handled).toHaveLength(9);
    expect(lines).toMatchObject([{ level: 'error', messageId: 'e', error: 'e is poison' }]);
  });

  test('handles the messages of one group in order, and lets none overtake a failed one', async () => {
    const { run, handled } = createBatch(['a2']);
    const answer = await run(
      message('a1', 'a'),
      message('b1', 'b'),
      message('a2', 'a'),
      message('b2', 'b'),
      message('a3', 'a'),
    );
    expect(answer).toEqual(failed('a2', 'a3'));
    expect(handled).toEqual(expect.arrayContaining(['a1', 'b1', 'b2']));
    expect(handled).not.toContain('a3');
    expect(handled.indexOf('b1')).toBeLessThan(handled.indexOf('b2'));
  });

  test('gives back what is no JSON', async () => {
    const { run, handled } = createBatch();
    expect(await run(sqsRecord('{', 'bad'), message('good'))).toEqual(failed('bad'));
    expect(handled).toEqual(['good']);
  });

  test('lets a message come back later the more often it failed, but within 5 minutes', async () => {
    const { run, retries } = createBatch(['a']);
    for (const receives of [1, 2, 3, 8, 50]) await run(message('a', 'a', receives));
    const bounds = [2, 4, 8, 256, 300];
    const backoffs = retries.filter((_, index) => index % 2 === 1);
    for (const [index, { receiptHandle, seconds }] of backoffs.entries()) {
      const most = bounds[index] ?? 0;
      expect(receiptHandle).toBe('receipt-a');
      expect(seconds).toBeGreaterThanOrEqual(most / 2);
      expect(seconds).toBeLessThanOrEqual(most);
    }
    expect(backoffs).toHaveLength(5);
  });

  test('gives back all the same if the queue cannot be told when', async () => {
    const { run, lines } = createBatch(['a'], true);
    expect(await run(message('a'))).toEqual(failed('a'));
    expect(lines.map((line) => line.message)).toEqual([
      'visibility not changed',
      'message failed',
      'visibility not changed',
    ]);
  });

  test('of a run that is killed comes back soon after its death, not after the visibility timeout', async () => {
    const { run, retries } = createBatch();
    await run(message('a'));
    expect(retries).toEqual([{ receiptHandle: 'receipt-a', seconds: 75 }]);
  });
});

test('an SQS event is told from the other payloads by its records', () => {
  expect(isSqsEvent({ Records: [] })).toBe(true);
  for (const other of [null, [], {}, { Records: 'x' }, { name: 'x' }, 'Records']) {
    expect(isSqsEvent(other)).toBe(false);
  }
});
