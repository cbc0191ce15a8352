import { expect, onTestFinished, test } from 'vitest';
import { createEventBus } from '../../local/cloud/event-bus.ts';
import { runEventSourceMapping } from '../../local/cloud/event-source-mapping.ts';
import { createFifoQueue } from '../../local/cloud/fifo-queue.ts';
import { runPipe } from '../../local/cloud/pipe.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import type { FunctionPool } from '../../local/lambda/function-pool.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { createHint } from '../../runtime/hint.ts';
import type { LogLine } from '../../runtime/log.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';
import { createTestPool } from '../helpers/cloud-pool.ts';

const kind = { group: 'podless.dev', version: 'v1', kind: 'Job', plural: 'jobs' };

/** Bus, rule, inbox, Pipe, FIFO queue, event source mapping and function, wired as the local system does it. */
function startPipeline(pool: FunctionPool) {
  const deadLetters = createFifoQueue({ clock });
  const work = createFifoQueue({ clock, deadLetters: { queue: deadLetters, maxReceives: 3 } });
  const inbox = createStandardQueue({ clock });
  const stop = new AbortController();
  const { log } = createMemoryLog();
  const common = { clock, log, signal: stop.signal };
  const rule = {
    name: 'jobs',
    pattern: { source: ['podless'], 'detail-type': ['Job'] },
    targets: [{ deliver: (body: string) => inbox.send([{ body }]) }],
  };
  const bus = createEventBus({ ...common, rules: [rule] });
  const ended = Promise.all([
    runPipe({ ...common, source: inbox, target: work }),
    runEventSourceMapping({
      ...common,
      queue: work,
      queueArn: 'arn:aws:sqs:us-east-1:000000000000:podless-jobs.fifo',
      invoke: (event) => pool.call(event),
      maximumConcurrency: 4,
      visibilitySeconds: 60,
      retryFailedRunSeconds: 1,
    }),
  ]);
  onTestFinished(async () => {
    stop.abort();
    await pool.stop();
    await ended;
  });
  return { bus, inbox, work, deadLetters };
}

const hint = (name: string, version: number) =>
  createHint({ cluster: 'c', kind, namespace: 'default', name }, 'Changed', `${version}`);

test('every change is worked on, one object never twice at once, also after a kill', async () => {
  const { pool, lines } = createTestPool('reconciles', { timeoutSeconds: 1, maxConcurrency: 4 });
  const { bus, work, inbox, deadLetters } = startPipeline(pool);
  const names = ['a', 'b', 'c', 'stuck'];
  const versions = Array.from({ length: 8 }, (_, index) => index);
  const hints = versions.flatMap((version) =>
    names.map((name) => ({ ...hint(name, version), resourceVersion: `${version}` })),
  );
  // Two watchers see the same changes.
  await Promise.all([bus.put(hints), bus.put(hints)]);

  const ended = () => lines.filter(({ message }) => message === 'ended');
  await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(hints.length);
  await expect.poll(() => work.depth()).toMatchObject({ visible: 0, inFlight: 0 });
  expect(await inbox.depth()).toMatchObject({ visible: 0, inFlight: 0, delayed: 0 });
  expect(await deadLetters.depth()).toMatchObject({ visible: 0 });
  for (const name of names) expectOneAfterTheOther(lines.filter((line) => line.name === name));
  expect(lines.filter(({ message, name }) => message === 'started' && name === 'a')).toHaveLength(
    8,
  );
}, 30_000);

/** In order, and nothing starts before the last has ended; a killed run has a start only. */
function expectOneAfterTheOther(lines: readonly LogLine[]): void {
  const versions = lines
    .filter(({ message }) => message === 'ended')
    .map((line) => line.resourceVersion);
  expect(versions).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  for (const [index, line] of lines.entries()) {
    if (line.message !== 'ended') continue;
    expect(lines[index - 1]).toMatchObject({
      message: 'started',
      resourceVersion: line.resourceVersion,
    });
  }
}
