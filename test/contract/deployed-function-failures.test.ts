import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { isAlive } from '../../local/control-plane/is-alive.ts';
import {
  acts,
  answerOf,
  echo,
  hostOf,
  isRunning,
  pidOf,
} from '../deployed/compute/sample-bundles.ts';
import { newFolder, removeFolders } from '../helpers/commands.ts';

vi.setConfig({ expect: { poll: { timeout: 10_000 } } });

afterAll(removeFolders);

describe('a run that fails', () => {
  test('by an exception comes back with its type and message, and the process stays', async () => {
    const { call } = hostOf(acts);
    const pid = await pidOf(call({}));
    expect(await call({ act: 'throw' })).toMatchObject({
      ok: false,
      kind: 'error',
      error: { errorType: 'RangeError', errorMessage: 'as asked for' },
    });
    expect(await call({ act: 'throwText' })).toMatchObject({
      error: { errorType: 'string', errorMessage: 'only text' },
    });
    expect(await pidOf(call({}))).toBe(pid);
  });

  test.each([
    ['reject', 'Runtime.UnhandledPromiseRejection', 'Error: nobody caught me'],
    ['fail', 'TypeError', 'thrown later'],
  ])('by something that nobody catches (%s) ends the process', async (act, type, message) => {
    const { host, call } = hostOf(acts);
    const pid = await pidOf(call({}));
    expect(await call({ act })).toMatchObject({
      kind: 'error',
      error: { errorType: type, errorMessage: message },
    });
    expect(host.environments).toBe(0);
    expect(await pidOf(call({}))).not.toBe(pid);
  });

  test('by an exit is a crash', async () => {
    const { host } = hostOf(acts);
    expect(await host.invoke('{"act":"exit"}', { requestId: 'r' })).toMatchObject({
      kind: 'crash',
      error: {
        errorType: 'Runtime.ExitError',
        errorMessage: 'RequestId: r Error: Runtime exited with error: exit status 3',
      },
    });
  });

  test.each(['hang', 'loop'])(
    'to end in time (%s) is killed, and the next gets a fresh process',
    async (act) => {
      const { host, call } = hostOf(acts, { timeoutSeconds: 1 });
      const pid = await pidOf(call({}));
      expect(await host.invoke(JSON.stringify({ act }), { requestId: 'r' })).toMatchObject({
        ok: false,
        kind: 'timeout',
        error: {
          errorType: 'Sandbox.Timedout',
          errorMessage: 'RequestId: r Error: Task timed out after 1.00 seconds',
        },
        log: [{ message: 'acting', act, pid }],
      });
      expect(isAlive(pid)).toBe(false);
      expect(host.environments).toBe(0);
      expect(await pidOf(call({}))).not.toBe(pid);
    },
  );

  test('to end in time takes with it what it has started', async () => {
    const { call } = hostOf(acts, { timeoutSeconds: 1 });
    const { log } = await call({ act: 'helper' });
    const helper = Number(log.at(-1)?.['message']);
    expect(helper).toBeGreaterThan(1);
    await expect.poll(() => isRunning(helper)).toBe(false);
  });

  test.runIf(existsSync('/proc/self/status')).each(['buffers', 'peak'])(
    'to stay within its memory (%s) is killed',
    async (act) => {
      const { call } = hostOf(acts, { memoryMegabytes: 128 });
      const pid = await pidOf(call({}));
      expect(await call({ act })).toMatchObject({
        kind: 'crash',
        error: {
          errorType: 'Runtime.OutOfMemory',
          errorMessage: expect.stringMatching(/signal: killed \(\d+ MB of 128 MB\)$/),
        },
      });
      expect(await pidOf(call({}))).not.toBe(pid);
    },
  );

  test('to stay within its heap is a crash', async () => {
    const { call } = hostOf(acts, { memoryMegabytes: 128 });
    expect(await call({ act: 'heap' })).toMatchObject({ ok: false, kind: 'crash' });
    expect(answerOf(await call({}))).toHaveProperty('pid');
  });

  test('because it was killed is a crash, and the next works', async () => {
    const { host, call, log } = hostOf(acts);
    const pid = await pidOf(call({}));
    const killed = call({ act: 'hang' });
    await expect.poll(() => log).toContainEqual({ message: 'acting', act: 'hang', pid });
    expect(await host.kill()).toBe(1);
    expect(await killed).toMatchObject({
      kind: 'crash',
      error: {
        errorType: 'Runtime.ExitError',
        errorMessage: expect.stringMatching(/Runtime exited with error: signal: killed$/),
      },
    });
    expect(isAlive(pid)).toBe(false);
    expect(await host.kill()).toBe(0);
    expect(await pidOf(call({}))).not.toBe(pid);
  });
});

describe('a bundle that does not load', () => {
  test.each([
    [
      'throws',
      `throw new TypeError('PODLESS_BUS is missing');`,
      'TypeError',
      'PODLESS_BUS is missing',
    ],
    [
      'exports nothing',
      `export const other = 1;`,
      'Runtime.HandlerNotFound',
      'index.handler is undefined or not exported',
    ],
    [
      'is no JavaScript',
      `export const = ;`,
      'Runtime.UserCodeSyntaxError',
      expect.stringContaining('SyntaxError'),
    ],
    [
      'lacks a chunk',
      `import './chunk.mjs';`,
      'Runtime.ImportModuleError',
      expect.stringContaining('chunk.mjs'),
    ],
    ['rejects', `await Promise.reject(new RangeError('no'));`, 'RangeError', 'no'],
  ])('because it %s is an error of the run', async (_, source, errorType, errorMessage) => {
    const { host, call } = hostOf(source);
    for (const _try of [1, 2]) {
      expect(await call({})).toMatchObject({
        ok: false,
        kind: 'error',
        error: { errorType, errorMessage },
      });
      expect(host.environments).toBe(0);
    }
  });

  test('because its file is missing', async () => {
    const { call } = hostOf(echo, { handler: 'main.handler' });
    expect(await call({})).toMatchObject({ error: { errorType: 'Runtime.ImportModuleError' } });
  });

  test('because it exits is a crash', async () => {
    const { call } = hostOf(`process.exit(7);`);
    expect(await call({})).toMatchObject({
      kind: 'crash',
      error: { errorMessage: expect.stringContaining('exit status 7') },
    });
  });

  test('because it takes too long is a timeout; time to load is no part of the run', async () => {
    const slow = `
      import { setTimeout as delay } from 'node:timers/promises';
      await delay(1500);
      export const handler = async () => ({ pid: process.pid });`;
    const patient = hostOf(slow, { timeoutSeconds: 1 });
    expect(await patient.call({})).toMatchObject({ ok: true });
    const impatient = hostOf(slow, { initSeconds: 1 });
    expect(await impatient.call({})).toMatchObject({ kind: 'timeout' });
  });

  test('is tried again at the next run', async () => {
    const source = `
      import { existsSync } from 'node:fs';
      if (!existsSync('ready')) throw new Error('not yet');
      export const handler = async () => ({ loaded: true });`;
    const { call, codeFolder } = hostOf(source);
    expect(await call({})).toMatchObject({ error: { errorMessage: 'not yet' } });
    mkdirSync(join(codeFolder, 'ready'));
    expect(answerOf(await call({}))).toEqual({ loaded: true });
  });
});

describe('no process is left', () => {
  test('when a host stops, whatever it did', async () => {
    const { host, call, log } = hostOf(acts, { maxConcurrency: 2 });
    const warm = await pidOf(call({}));
    const running = [call({ act: 'hang' }), call({ act: 'loop' })];
    const waiting = expect(call({})).rejects.toThrow('function podless-test was stopped');
    await expect.poll(() => log).toHaveLength(3);
    await host.stop();
    for (const result of await Promise.all(running))
      expect(result).toMatchObject({ kind: 'crash' });
    await waiting;
    await expect(call({})).rejects.toThrow('function podless-test was stopped');
    expect(isAlive(warm)).toBe(false);
    expect(host.environments).toBe(0);
  });

  test('when the test process is killed', async () => {
    const codeFolder = newFolder();
    writeFileSync(join(codeFolder, 'index.mjs'), acts);
    const module = join(import.meta.dirname, '../deployed/compute/function-host.ts');
    const script = `
      import { createFunctionHost } from ${JSON.stringify(module)};
      const host = createFunctionHost({
        name: 'x', codeFolder: ${JSON.stringify(codeFolder)}, environment: {},
        memoryMegabytes: 256, timeoutSeconds: 600, onLog: ({ pid }) => console.log(pid),
      });
      await host.invoke('{}');
      await Promise.all([host.invoke('{"act":"loop"}'), host.invoke('{}')]);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    parent.stdout.on('data', (chunk) => (output += String(chunk)));
    // The first is warm, then loops; the second is started beside it, and is then frozen.
    await expect.poll(() => output.trim().split('\n').length).toBe(3);
    const pids = [...new Set(output.trim().split('\n').map(Number))];
    expect(pids).toHaveLength(2);
    parent.kill('SIGKILL');
    await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  });
});
