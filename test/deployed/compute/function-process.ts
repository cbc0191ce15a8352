import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { signalGroup } from '../../../local/control-plane/child.ts';
import { whenParentDies } from '../../../local/control-plane/parent-guard.ts';

export interface FunctionProcessOptions {
  readonly codeFolder: string;
  readonly memoryMegabytes: number;
  /** All of it: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (text: string) => void;
}

export interface FunctionProcess {
  readonly pid: number;
  /** Resolves, never rejects, when it is gone and its output was read: `exit status 1` or `signal: killed`. */
  readonly ended: Promise<string>;
  /** Nothing in it goes on, not even a timer, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** It and all that it has started. */
  kill(): void;
}

const bootstrap = join(import.meta.dirname, 'bootstrap.mjs');

/** The share of the memory which Lambda's Node.js runtime gives to the heap. */
const HEAP_SHARE = 0.9;

/** Starts Node.js on the bootstrap script, never to outlive this process. */
export function startFunctionProcess(options: FunctionProcessOptions): FunctionProcess {
  const heap = Math.floor(options.memoryMegabytes * HEAP_SHARE);
  // On Lambda it is /tmp, and nobody else's.
  const TMPDIR = mkdtempSync(join(tmpdir(), 'podless-function-'));
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, bootstrap], {
    cwd: options.codeFolder,
    env: { ...options.environment, TMPDIR },
    // A group of its own, so that a signal reaches what the function itself started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) {
    child.on('error', () => {});
    rmSync(TMPDIR, { recursive: true });
    throw new Error(`cannot start ${process.execPath} in ${options.codeFolder}`);
  }
  const guard = whenParentDies('kill -9 -"$1"; rm -rf "$2"', [String(pid), TMPDIR]);
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', options.onLine);
  const signal = (name: NodeJS.Signals) => {
    // Later its id may be another's.
    if (child.exitCode === null && child.signalCode === null) signalGroup(pid, name);
  };
  const ended = endOf(child, pid).then(async (how) => {
    await guard.release();
    await rm(TMPDIR, { recursive: true, force: true });
    return how;
  });
  return {
    pid,
    ended,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    kill: () => signal('SIGKILL'),
  };
}

type Spawned = ChildProcessByStdio<null, Readable, Readable>;

async function endOf(child: Spawned, pid: number): Promise<string> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const how = await new Promise<string>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `exit status ${code}` : `signal: ${wordOf(signal)}`),
    );
  });
  // What it started dies with it, as on Lambda, and would otherwise keep its output open.
  signalGroup(pid, 'SIGKILL');
  await Promise.race([closed, delay(1000, undefined, { ref: false })]);
  return how;
}

const wordOf = (signal: NodeJS.Signals): string =>
  ({ SIGKILL: 'killed', SIGABRT: 'aborted', SIGSEGV: 'segmentation fault' })[signal as string] ??
  signal;
