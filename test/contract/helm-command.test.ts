import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive } from '../../local/control-plane/is-alive.ts';
import { resolveHelm } from '../../local/helm-binary.ts';
import { createHelm, type HelmCall } from '../../runtime/helm/helm-command.ts';
import { until } from '../helpers/until.ts';

let helm: string;
let folder: string;

beforeAll(async () => {
  helm = await resolveHelm();
  folder = await mkdtemp(join(tmpdir(), 'podless-test-command-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A shell script in the place of helm. */
async function program(name: string, script: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

const call = (args: readonly string[], more: Partial<HelmCall> = {}): HelmCall => ({
  args,
  files: new Map(),
  limitMilliseconds: 30_000,
  ...more,
});

describe('a call of helm', () => {
  test('is the real program, of the version that the Lambda layer has', async () => {
    const { ended, stdout } = await createHelm({ path: helm })(call(['version', '--short']));
    expect(ended).toBe('ok');
    expect(stdout).toMatch(/^v4\./);
  });

  test('has an empty home, no plugins and nothing of our environment', async () => {
    process.env['AWS_SECRET_ACCESS_KEY'] = 'canary';
    const { stdout } = await createHelm({ path: helm })(call(['env']));
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    expect(stdout).toMatch(/HELM_PLUGINS="\/.*podless-helm-.*"/);
    const all = await createHelm({ path: await program('env', 'env; ls -A "$HOME" 2>&1') })(
      call([]),
    );
    expect(all.stdout).not.toContain('canary');
    expect(all.stdout).not.toMatch(/^AWS_/m);
    expect(all.stdout).toMatch(/ls: .*No such file/);
  });

  test('has its files to itself, and they are gone afterwards', async () => {
    const path = await program('files', 'pwd; stat -c "%a" . a/b kubeconfig.json; cat a/b');
    const files = new Map([
      ['a/b', 'content'],
      ['kubeconfig.json', '{}'],
    ]);
    const { stdout } = await createHelm({ path })(call([], { files }));
    const [where = '', ...rest] = stdout.split('\n');
    expect(rest).toEqual(['700', '600', '600', 'content']);
    expect(existsSync(where)).toBe(false);
  });

  test('that fails has its message and code', async () => {
    const path = await program('fails', 'echo "Error: no" >&2; exit 3');
    expect(await createHelm({ path })(call([]))).toMatchObject({
      ended: 'failed',
      code: 3,
      stderr: 'Error: no\n',
    });
  });

  test('of a program that is not there says so', async () => {
    const missing = createHelm({ path: join(folder, 'nothing') })(call([]));
    await expect(missing).rejects.toMatchObject({ reason: 'HelmMissing' });
  });

  test('is told to stop at its limit, and killed if it does not', async () => {
    const polite = await program('polite', 'trap "echo bye; exit 1" TERM; sleep 60 & wait');
    const answer = await createHelm({ path: polite })(call([], { limitMilliseconds: 300 }));
    expect(answer).toMatchObject({ ended: 'limit', stdout: 'bye\n' });
    const stubborn = await program('stubborn', 'trap "" TERM; echo $$; while :; do sleep 1; done');
    const killed = await createHelm({ path: stubborn })(call([], { limitMilliseconds: 300 }));
    expect(killed.ended).toBe('limit');
    await until(async () => (isAlive(Number(killed.stdout)) ? undefined : true), {
      seconds: 10,
      what: async () => `process ${killed.stdout} to go`,
    });
  });

  test('ends early by its signal', async () => {
    const path = await program('sleeps', 'exec sleep 60');
    const signal = AbortSignal.timeout(200);
    expect(await createHelm({ path })(call([], { signal }))).toMatchObject({ ended: 'limit' });
  });

  test('that writes too much is stopped', async () => {
    const path = await program('floods', 'exec yes');
    const { ended, stdout } = await createHelm({ path })(call([]));
    expect(ended).toBe('limit');
    expect(stdout.length).toBeLessThanOrEqual(8 * 1024 * 1024);
  });

  test('cannot have more memory than its limit', async () => {
    const path = await program('eats', `exec ${process.execPath} -e "Buffer.alloc(700e6, 1)"`);
    const small = createHelm({ path, memoryMegabytes: 256 });
    expect((await small(call([]))).ended).toBe('failed');
  });
});

describe('when the one who called helm is killed, helm goes too, and its folder', () => {
  const worker = join(import.meta.dirname, '..', 'helpers', 'helm-killed-worker.ts');

  /** A program that says who and where it is, and goes on for ever. */
  const endless = (name: string) =>
    program(
      name,
      `trap "" TERM; pwd > "$1.part"; echo $$ >> "$1.part"; mv "$1.part" "$1"; while :; do sleep 1; done`,
    );

  async function started(file: string) {
    await until(async () => (existsSync(file) ? true : undefined), {
      seconds: 20,
      what: async () => 'the program to run',
    });
    const [where = '', pid] = (await readFile(file, 'utf8')).split('\n');
    expect(isAlive(Number(pid))).toBe(true);
    expect(existsSync(join(where, 'secret'))).toBe(true);
    return { where, pid: Number(pid) };
  }

  async function gone({ where, pid }: { where: string; pid: number }): Promise<void> {
    await until(async () => (!isAlive(pid) && !existsSync(where) ? true : undefined), {
      seconds: 10,
      what: async () => `process ${pid} and ${where} to go`,
    });
  }

  test('by the end of a thread', async () => {
    const report = join(folder, 'thread');
    const thread = new Worker(worker, {
      workerData: [await endless('endless-thread'), report],
      execArgv: [],
    });
    const running = await started(report);
    await thread.terminate();
    await gone(running);
  });

  test('by the end of a process', async () => {
    const report = join(folder, 'process');
    const args = [worker, await endless('endless-process'), report];
    const child: ChildProcess = spawn(process.execPath, args, { stdio: 'ignore' });
    const running = await started(report);
    child.kill('SIGKILL');
    await gone(running);
    expect(dirname(running.where)).toBe(tmpdir());
  });
});
