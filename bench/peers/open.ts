import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Job, JobResult, Ready } from './job.ts';

/** A peer's process, loaded and waiting. */
export interface OpenPeer {
  /** A peer that does not answer in time is ended, and that is its result. */
  run(job: Job, timeLimitMs: number): Promise<JobResult>;
  close(): Promise<void>;
}

export interface PeerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

const READY_MS = 60_000;

/** Starts a peer and waits until it has loaded its modules. */
export async function openPeer({ command, args }: PeerCommand): Promise<OpenPeer> {
  const child = spawn(command, args, { env: peerEnvironment(), stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = readLines(child, `${command} ${args.join(' ')}`);
  // Writing to a peer that is gone: its end is told by the line that never comes.
  child.stdin.on('error', () => {});
  await lines.next<Ready>(READY_MS);
  return {
    async run(job, timeLimitMs) {
      child.stdin.write(`${JSON.stringify(job)}\n`);
      try {
        return await lines.next<JobResult>(timeLimitMs);
      } catch (error) {
        child.kill('SIGKILL');
        return { milliseconds: timeLimitMs, failure: (error as Error).message };
      }
    },
    async close() {
      child.stdin.end();
      child.kill('SIGKILL');
      await lines.closed;
    },
  };
}

/** Any credentials will do, but never those of the person at the keyboard. */
function peerEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'));
  return {
    ...Object.fromEntries(own),
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    // The SDK's notices on Node versions would be the only thing on standard error.
    NODE_NO_WARNINGS: '1',
  };
}

/** What a peer says, one line of JSON at a time. */
function readLines(child: ChildProcessByStdio<Writable, Readable, Readable>, what: string) {
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints = `${complaints}${String(chunk)}`.slice(-2_000);
  });
  let wanted: PromiseWithResolvers<string> | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => wanted?.resolve(line));
  const { promise: closed, resolve: setClosed } = Promise.withResolvers<void>();
  const end = (how: string) => {
    wanted?.reject(new Error(`${what} ended with ${how}: ${complaints.trim()}`));
    setClosed();
  };
  child.once('error', ({ message }) => end(message));
  child.once('close', (code, signal) => end(`${code ?? signal}`));
  return {
    closed,
    async next<T>(timeLimitMs: number): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      wanted = { promise, resolve, reject };
      if (child.exitCode !== null || child.signalCode !== null)
        reject(new Error(`${what} is gone: ${complaints.trim()}`));
      const timer = setTimeout(() => {
        reject(new Error(`did not end within ${Math.round(timeLimitMs / 1000)} s`));
      }, timeLimitMs);
      try {
        return JSON.parse(await promise) as T;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
