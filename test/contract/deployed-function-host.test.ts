import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerOf, echo, hostOf } from '../deployed/compute/sample-bundles.ts';
import { removeFolders } from '../helpers/commands.ts';

afterAll(removeFolders);

describe('a bundle runs as on Lambda', () => {
  test('with its event and context, in a process that stays warm', async () => {
    const { host, call } = hostOf(echo);
    const first = answerOf(await host.invoke('{"a":[1,"ü"]}', { requestId: 'r-1' }));
    expect(first).toMatchObject({
      event: { a: [1, 'ü'] },
      runs: 1,
      context: {
        awsRequestId: 'r-1',
        functionName: 'podless-test',
        functionVersion: '$LATEST',
        memoryLimitInMB: '256',
        invokedFunctionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:podless-test',
      },
    });
    expect(first['remaining']).toBeGreaterThan(15_000);
    expect(first['remaining']).toBeLessThanOrEqual(20_000);
    expect(first['pid']).not.toBe(process.pid);
    for (const runs of [2, 3]) {
      expect(answerOf(await call(null))).toMatchObject({ runs, pid: first['pid'], event: null });
    }
    expect(host.environments).toBe(1);
  });

  test('with exactly the environment it was given, and nothing of this process', async () => {
    vi.stubEnv('AWS_PROFILE', 'of-the-developer');
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/etc/hosts');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const environment = { AWS_REGION: 'eu-west-1', PODLESS_BUS: 'podless', TZ: 'Asia/Tokyo' };
    const { call, codeFolder } = hostOf(echo, { environment });
    expect(answerOf(await call({}))['env']).toEqual({
      AWS_REGION: 'eu-west-1',
      PODLESS_BUS: 'podless',
      TZ: 'Asia/Tokyo',
      PATH: '/usr/local/bin:/usr/bin:/bin:/opt/bin',
      LANG: 'en_US.UTF-8',
      HOME: '/nonexistent',
      TMPDIR: expect.stringMatching(/podless-function-\w+$/),
      AWS_EC2_METADATA_DISABLED: 'true',
      _HANDLER: 'index.handler',
      LAMBDA_TASK_ROOT: codeFolder,
      AWS_LAMBDA_RUNTIME_API: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      AWS_LAMBDA_FUNCTION_NAME: 'podless-test',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/podless-test',
      AWS_LAMBDA_LOG_STREAM_NAME: '[$LATEST]',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    });
  });

  test('with the NODE_OPTIONS of the template, on Node.js 24, with nine tenths of the memory as heap', async () => {
    const source = `
      export const handler = async () => ({
        version: process.version,
        sourceMaps: process.sourceMapsEnabled,
        limits: process.execArgv,
      });`;
    const environment = { NODE_OPTIONS: '--enable-source-maps' };
    const { call } = hostOf(source, { environment, memoryMegabytes: 1000 });
    expect(answerOf(await call({}))).toEqual({
      version: expect.stringMatching(/^v24\./),
      sourceMaps: true,
      limits: ['--max-old-space-size=900'],
    });
  });

  test('what it writes comes line by line, JSON as its fields, before the answer', async () => {
    const source = `
      console.log('loading');
      export const handler = async ({ lines }) => {
        for (let line = 0; line < lines; line += 1)
          console.log(JSON.stringify({ message: 'counted', line }));
        console.error('not JSON');
        process.stdout.write('[1]\\nno end of line');
      };`;
    const seen: unknown[] = [];
    const { call } = hostOf(source, { onLog: (line) => seen.push(line) });
    const { log } = await call({ lines: 2000 });
    expect(log.filter(({ message }) => message === 'counted')).toEqual(
      Array.from({ length: 2000 }, (_, line) => ({ message: 'counted', line })),
    );
    const others = log.filter(({ message }) => message !== 'counted');
    expect(others.map(({ message }) => message).sort()).toEqual(['[1]', 'loading', 'not JSON']);
    expect(seen).toEqual(log);
    expect((await call({ lines: 1 })).log).not.toContainEqual({ message: 'loading' });
  });

  test('it is frozen between two runs', async () => {
    const source = `
      let ticks = 0;
      setInterval(() => { ticks += 1; }, 10);
      export const handler = async () => ({ ticks });`;
    const { call } = hostOf(source);
    const before = Number(answerOf(await call({}))['ticks']);
    await delay(1000);
    const after = Number(answerOf(await call({}))['ticks']);
    // A hundred, if it were not.
    expect(after - before).toBeLessThan(50);
  });

  test('an answer that is too large is an error', async () => {
    const { call } = hostOf(`export const handler = async () => 'x'.repeat(7e6);`);
    expect(await call({})).toMatchObject({
      ok: false,
      kind: 'error',
      error: { errorType: 'Function.ResponseSizeTooLarge' },
    });
  });
});

describe('several runs at once', () => {
  const slow = `
    import { setTimeout as delay } from 'node:timers/promises';
    export const handler = async () => {
      const startedAt = Date.now();
      await delay(200);
      return { pid: process.pid, startedAt, endedAt: Date.now() };
    };`;

  test('have a process each, up to the limit; others wait their turn', async () => {
    const { host, call } = hostOf(slow, { maxConcurrency: 2 });
    const results = await Promise.all(Array.from({ length: 6 }, () => call({})));
    const runs = results.map(answerOf).map(({ startedAt, endedAt, pid }) => ({
      pid,
      startedAt: Number(startedAt),
      endedAt: Number(endedAt),
    }));
    expect(new Set(runs.map(({ pid }) => pid)).size).toBe(2);
    const together = runs.map(
      ({ startedAt }) =>
        runs.filter((other) => other.startedAt <= startedAt && startedAt < other.endedAt).length,
    );
    expect(Math.max(...together)).toBe(2);
    expect(host.environments).toBe(2);
  });

  test('beyond the limit are refused where nobody wants to wait', async () => {
    const { host, call } = hostOf(slow, { maxConcurrency: 1 });
    const first = call({});
    await expect(host.invoke('{}', { whenBusy: 'reject' })).rejects.toThrow('Rate Exceeded');
    expect(await first).toMatchObject({ ok: true });
  });
});
