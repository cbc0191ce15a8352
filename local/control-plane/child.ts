import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { whenParentDies } from './parent-guard.ts';

export interface ChildOptions {
  /** What messages call it: `kube-apiserver`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Standard output and error are appended to this file. */
  readonly logFile: string;
  /** Default: the current folder. */
  readonly cwd?: string;
  /** The whole environment of the child. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** How long `stop` waits between SIGTERM and SIGKILL. Default: 5. */
  readonly stopSeconds?: number;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves, never rejects, with how the child ended: `exit code 1` or `signal SIGKILL`. */
  readonly exited: Promise<string>;
  readonly running: boolean;
  /** The newest lines of its log. Default: 20 lines. */
  logTail(lines?: number): string;
  /**
   * SIGTERM, then SIGKILL, to the child and its own children; resolves when it is gone. Safe to
   * repeat.
   */
  stop(): Promise<void>;
}

const tailBytes = 64 * 1024;

/** Starts a process that never outlives this one. Rejects if it cannot be started at all. */
export async function spawnChild(options: ChildOptions): Promise<Child> {
  const { name, logFile } = options;
  const log = openSync(logFile, 'a');
  // A process group of its own (`detached`): Ctrl-C in the terminal reaches only us, so that we can
  // stop things in order; and a signal to the group also reaches what the child itself started
  // (compilers of `go build`).
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', log, log],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  closeSync(log);

  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(signal ? `signal ${signal}` : `exit code ${code}`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(new Error(`cannot start ${name} (${options.command}): ${cause.message}`, { cause })),
    );
  });
  const { pid } = child;
  if (pid === undefined)
    throw new Error(`cannot start ${name} (${options.command}): no process id`);

  const guard = whenParentDies('kill -9 -"$1"', [String(pid)]);
  // Released as soon as the child is gone: its process id may be given to another process.
  const exited = ended.then(async (ending) => {
    await guard.release();
    return ending;
  });

  const running = () => child.exitCode === null && child.signalCode === null;
  let stopping: Promise<void> | undefined;
  return {
    name,
    pid,
    logFile,
    exited,
    get running() {
      return running();
    },
    logTail: (lines = 20) => tailOf(logFile, lines),
    stop() {
      stopping ??= running() ? stopGroup(pid, exited, options.stopSeconds ?? 5) : Promise.resolve();
      return stopping;
    },
  };
}

async function stopGroup(pid: number, exited: Promise<string>, seconds: number): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  const timer = new AbortController();
  const patience = delay(seconds * 1000, 'late', { signal: timer.signal }).catch(() => undefined);
  await Promise.race([exited, patience]);
  timer.abort();
  // Also after a prompt exit: a grandchild may still be there. The group's id is not reused while
  // it has a member.
  signalGroup(pid, 'SIGKILL');
  await exited;
}

/** To a process that leads a group, and to all that it started. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: nobody left. EPERM: macOS says so of a group whose members are all dead but not yet
    // collected.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

function tailOf(file: string, lines: number): string {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const length = Math.min(size, tailBytes);
    const buffer = Buffer.alloc(length);
    readSync(fd, buffer, 0, length, size - length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(fd);
  }
}
