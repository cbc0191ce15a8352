import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { TooManyRequestsError } from '../../local/lambda/invocation.ts';
import { createTestPool } from '../helpers/cloud-pool.ts';

// Threads start slowly on a busy machine.
vi.setConfig({ testTimeout: 30_000, expect: { poll: { timeout: 10_000 } } });

describe('a function runs as on Lambda', () => {
  test('with its event, context and environment, and nothing else of this process', async () => {
    const { pool, lines } = createTestPool('echo', {
      environment: { GREETING: 'hello' },
      clusters: { blue: { server: 'https://127.0.0.1:1', hasToken: false } },
    });
    const result = await pool.invoke({ a: [1] }, { requestId: 'request-1' });
    expect(result).toMatchObject({ result: 'ok', requestId: 'request-1' });
    const answer = JSON.parse(result.result === 'ok' ? result.payload : '{}');
    expect(answer).toMatchObject({
      event: { a: [1] },
      runs: 1,
      clusters: ['blue'],
      greeting: 'hello',
      inherited: null,
      functionName: 'podless-echo',
      requestId: 'request-1',
    });
    expect(answer.remaining).toBeGreaterThan(9_000);
    expect(answer.remaining).toBeLessThanOrEqual(10_000);
    expect(lines).toMatchObject([{ level: 'info', message: 'echoing', runs: 1 }]);
    expect(result.logTail).toMatch(/^START RequestId: request-1.*"echoing".*END RequestId/s);
  });

  test('in a warm environment, one run after the other', async () => {
    const { pool } = createTestPool('echo');
    for (const runs of [1, 2, 3]) expect(await pool.call({})).toMatchObject({ runs });
    expect(pool.environments).toBe(1);
  });

  test('and its exceptions come back with type, message and trace', async () => {
    const { pool } = createTestPool('misbehave');
    expect(await pool.invoke({ act: 'throw' })).toMatchObject({
      result: 'error',
      error: {
        errorType: 'RangeError',
        errorMessage: 'as asked for',
        trace: expect.arrayContaining(['RangeError: as asked for']),
      },
    });
    expect(await pool.invoke({ act: 'throwText' })).toMatchObject({
      error: { errorType: 'string', errorMessage: 'only text' },
    });
    await expect(pool.call({ act: 'throw' })).rejects.toThrow(
      'podless-misbehave failed: RangeError: as asked for',
    );
    expect(pool.environments).toBe(1);
  });

  test('no answer is null; one that is no JSON or too large is an error', async () => {
    const { pool } = createTestPool('misbehave');
    expect(await pool.invoke({ act: 'answerNothing' })).toMatchObject({ payload: 'null' });
    expect(await pool.invoke({ act: 'answerCycle' })).toMatchObject({
      error: { errorType: 'TypeError', errorMessage: expect.stringMatching(/circular/) },
    });
    expect(await pool.invoke({ act: 'answerTooMuch' })).toMatchObject({
      error: { errorType: 'Function.ResponseSizeTooLarge' },
    });
  });

  test('odd log fields, unknown metrics and output cost nothing', async () => {
    const { pool, lines } = createTestPool('misbehave');
    expect(await pool.call({ act: 'logOddities' })).toBe('logged');
    await expect
      .poll(() => lines.map(({ message }) => message).sort())
      .toEqual(['cyclic', 'function wrote', 'metric refused', 'odd']);
    expect(lines.find(({ message }) => message === 'odd')).toMatchObject({ big: '1' });
  });

  test('the log tail is the last 4 KB', async () => {
    const { pool } = createTestPool('misbehave');
    const { logTail } = await pool.invoke({ act: 'logMuch' });
    expect(Buffer.byteLength(logTail)).toBeLessThanOrEqual(4096);
    expect(logTail).toContain('"line":99');
    expect(logTail).not.toContain('"line":1,');
  });
});

describe('a run that passes its timeout is killed', () => {
  test.each(['hang', 'loop'])('when it would %s for ever', async (act) => {
    const { pool, metricsText } = createTestPool('misbehave', { timeoutSeconds: 1 });
    const startedAt = Date.now();
    expect(await pool.invoke({ act }, { requestId: 'r' })).toMatchObject({
      result: 'timeout',
      error: {
        errorType: 'Sandbox.Timedout',
        errorMessage: 'RequestId: r Error: Task timed out after 1.00 seconds',
      },
    });
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    expect(pool.environments).toBe(0);
    expect(await pool.call({ act: 'sleep' })).toBe('slept');
    const counted = (result: string) =>
      `podless_function_invocations_total{function="podless-misbehave",result="${result}"}`;
    const text = await metricsText();
    expect(text).toContain(`${counted('timeout')} 1\n`);
    expect(text).toContain(`${counted('ok')} 1\n`);
    expect(text).toContain(`${counted('error')} 0\n`);
  });

  test('and what it did before stays done', async () => {
    const { pool, putHints, queue, metricsText } = createTestPool('uses-ports', {
      timeoutSeconds: 1,
    });
    expect(await pool.invoke({ hang: true })).toMatchObject({ result: 'timeout' });
    expect(putHints).toHaveLength(1);
    expect(await queue.depth()).toMatchObject({ delayed: 1 });
    expect(await metricsText()).toContain('podless_resync_sent_total{kind="Job"} 2\n');
    expect(await pool.invoke({})).toMatchObject({ result: 'ok' });
  });

  test('but time to load is not part of it', async () => {
    const { pool } = createTestPool('loads-slowly', {
      timeoutSeconds: 0.5,
      environment: { LOAD_MILLISECONDS: '1000' },
    });
    expect(await pool.call({})).toBe('loaded');
  });

  test('and loading has a limit of its own', async () => {
    const { pool } = createTestPool('loads-slowly', {
      initSeconds: 0.5,
      environment: { LOAD_MILLISECONDS: '60000' },
    });
    expect(await pool.invoke({})).toMatchObject({ result: 'timeout' });
  });
});

describe('an environment that dies fails its run and is replaced', () => {
  test.each([
    ['exit', /exited with error: exit status 3/],
    ['crash', /TypeError: nobody catches me/],
    ['exhaustMemory', /out of memory/],
  ])('%s', async (act, message) => {
    const { pool } = createTestPool('misbehave', { memoryMegabytes: 32, timeoutSeconds: 60 });
    expect(await pool.invoke({ act }, { requestId: 'r' })).toMatchObject({
      result: 'error',
      error: { errorType: 'Runtime.ExitError', errorMessage: expect.stringMatching(message) },
    });
    expect(pool.environments).toBe(0);
    expect(await pool.call({ act: 'sleep' })).toBe('slept');
  });

  test('also if it dies while idle', async () => {
    const { pool } = createTestPool('misbehave');
    expect(await pool.call({ act: 'crashLater' })).toBe('fine so far');
    await expect.poll(() => pool.environments).toBe(0);
    expect(await pool.call({ act: 'sleep' })).toBe('slept');
  });

  test.each([
    ['does-not-load', 'SyntaxError', /broken while loading/],
    ['exports-nothing', 'Runtime.HandlerNotFound', /must export a function createFunction/],
    ['does-not-exist', 'Error', /Cannot find module/],
  ] as const)('a module that %s', async (name, errorType, message) => {
    const { pool } = createTestPool(name);
    for (const _try of [1, 2]) {
      expect(await pool.invoke({})).toMatchObject({
        result: 'error',
        error: { errorType, errorMessage: expect.stringMatching(message) },
      });
    }
    expect(pool.environments).toBe(0);
  });
});

describe('ports reach the main thread', () => {
  test('calls, answers and refusals travel both ways', async () => {
    const { pool, queue, putHints } = createTestPool('uses-ports', {
      clusters: { blue: { server: 'https://127.0.0.1:1', hasToken: false } },
    });
    expect(await pool.call({})).toEqual({
      after: '42',
      refusal: expect.stringMatching(/^MessageNotInflight: .*unknown/),
      aborted: 'too late',
    });
    expect(putHints[0]).toMatchObject({ cluster: 'blue', kind: 'Job', name: 'x' });
    expect(await queue.depth()).toMatchObject({ delayed: 1 });

    await queue.send([{ body: 'in flight' }]);
    const [message] = await queue.receive({ max: 1, visibilitySeconds: 600 });
    expect(await pool.call({ receiptHandle: message?.receiptHandle })).toMatchObject({
      before: '42',
      refusal: null,
    });
  });
});

describe('concurrency', () => {
  test('runs at once up to the limit, others wait their turn', async () => {
    const { pool } = createTestPool('misbehave', { maxConcurrency: 2 });
    const runs = Array.from({ length: 6 }, () => pool.call({ act: 'sleep' }));
    await delay(50);
    expect(pool.environments).toBe(2);
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 6 }, () => 'slept'));
    expect(pool.environments).toBe(2);
  });

  test('fails at once beyond the limit for callers that do not wait', async () => {
    const { pool } = createTestPool('misbehave', { maxConcurrency: 1 });
    const first = pool.call({ act: 'sleep' });
    const refused = pool.invoke({ act: 'sleep' }, { whenBusy: 'reject' });
    await expect(refused).rejects.toThrow(TooManyRequestsError);
    expect(await first).toBe('slept');
  });

  test('idle environments are reaped down to one', async () => {
    const { pool } = createTestPool('misbehave', { maxConcurrency: 3, idleSeconds: 3 });
    await Promise.all(Array.from({ length: 3 }, () => pool.call({ act: 'sleep' })));
    expect(pool.environments).toBe(3);
    await expect.poll(() => pool.environments, { timeout: 20_000 }).toBe(1);
    expect(await pool.call({ act: 'sleep' })).toBe('slept');
  });

  test('stopping ends runs, refuses those that wait and those that come', async () => {
    const { pool } = createTestPool('misbehave', { maxConcurrency: 1 });
    const running = pool.invoke({ act: 'hang' });
    const waiting = pool.invoke({ act: 'sleep' });
    const refusal = expect(waiting).rejects.toThrow('podless-misbehave was stopped');
    await delay(300);
    await pool.stop();
    expect(await running).toMatchObject({ error: { errorType: 'Sandbox.Stopped' } });
    await refusal;
    await expect(pool.invoke({})).rejects.toThrow('podless-misbehave was stopped');
    expect(pool.environments).toBe(0);
  });
});
