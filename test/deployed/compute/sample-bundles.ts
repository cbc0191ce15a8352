import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isAlive } from '../../../local/control-plane/is-alive.ts';
import type { LogFields } from '../../../runtime/log.ts';
import { newFolder } from '../../helpers/commands.ts';
import type { FunctionResult } from './environment-pool.ts';
import { createFunctionHost, type FunctionHostOptions } from './function-host.ts';

/** A host that ends with the test, for a bundle of one file. */
export function hostOf(source: string, options: Partial<FunctionHostOptions> = {}) {
  const codeFolder = newFolder();
  writeFileSync(join(codeFolder, 'index.mjs'), source);
  const log: LogFields[] = [];
  const host = createFunctionHost({
    name: 'podless-test',
    codeFolder,
    environment: { AWS_REGION: 'eu-west-1' },
    memoryMegabytes: 256,
    timeoutSeconds: 20,
    onLog: (line) => log.push(line),
    ...options,
  });
  onTestFinished(() => host.stop());
  const call = (event: unknown) => host.invoke(JSON.stringify(event));
  return { host, call, log, codeFolder };
}

export function answerOf(result: FunctionResult): Record<string, unknown> {
  if (result.ok) return JSON.parse(result.payload);
  throw new Error(`the function failed: ${JSON.stringify(result.error)}`);
}

export const pidOf = async (result: Promise<FunctionResult>): Promise<number> =>
  Number(answerOf(await result)['pid']);

/** Tells all it knows. */
export const echo = `
  let runs = 0;
  export const handler = async (event, context) => {
    runs += 1;
    const remaining = context.getRemainingTimeInMillis();
    return { event, context, remaining, runs, pid: process.pid, env: process.env };
  };`;

/** Does as it is told, and tells who it was. */
export const acts = `
  import { spawn } from 'node:child_process';
  const held = [];
  const acts = {
    answer: () => {},
    throw: () => { throw new RangeError('as asked for'); },
    throwText: () => { throw 'only text'; },
    hang: () => new Promise((resolve) => setTimeout(resolve, 600_000)),
    loop: () => { for (;;); },
    exit: () => process.exit(3),
    reject: () => { void Promise.reject(new Error('nobody caught me')); return acts.hang(); },
    fail: () => { setTimeout(() => { throw new TypeError('thrown later'); }); return acts.hang(); },
    buffers: async () => {
      for (;;) { held.push(Buffer.alloc(8 << 20, 1)); await new Promise(setImmediate); }
    },
    peak: () => { held.push(Buffer.alloc(100 << 20, 1)); },
    heap: () => { for (;;) held.push(Array.from({ length: 1e5 }, () => ({}))); },
    helper: () => {
      console.log(String(spawn('sleep', ['600'], { stdio: 'inherit' }).pid));
      return acts.hang();
    },
  };
  export const handler = async ({ act = 'answer' }) => {
    console.log(JSON.stringify({ message: 'acting', act, pid: process.pid }));
    await acts[act]();
    return { pid: process.pid };
  };`;

/** Where nobody collects the dead, they stay as zombies; those do not run. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return existsSync('/proc') ? false : isAlive(pid);
  }
}
