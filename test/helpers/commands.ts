import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { until } from './until.ts';

const project = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

export interface Addresses {
  readonly kubeconfig: string;
  readonly dynamodb: string;
  readonly lambda: string;
  readonly http: string;
  readonly pid: number;
}

export interface Started {
  readonly child: ChildProcess;
  /** All output so far. */
  output(): string;
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts a command of the project in a folder of its own, as a user would in the project's. */
export function start(script: 'local' | 'demo', args: readonly string[], cwd: string): Started {
  const child = spawn(process.execPath, [join(project, 'local', `${script}.ts`), ...args], { cwd });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (text += String(chunk)));
  const ended = new Promise<number | string>((done) => {
    child.once('close', (code, signal) => done(code ?? signal ?? 'unknown'));
  });
  return { child, output: () => text, ended };
}

const folders: string[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'podless-test-'));
  folders.push(folder);
  return folder;
}

/** Those that `newFolder` has made. */
export const removeFolders = (): Promise<unknown> =>
  Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));

/** The addresses that a local system publishes once it is ready. */
export const addressesIn = (folder: string, { output }: Started): Promise<Addresses> =>
  until(
    async () => {
      const text = await readFile(join(folder, '.podless/local.json'), 'utf8').catch(
        () => undefined,
      );
      return text === undefined ? undefined : (JSON.parse(text) as Addresses);
    },
    { seconds: 60, what: async () => `.podless/local.json; output so far: ${output()}` },
  );

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a client to its end, whatever its exit code. */
export async function client(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Finished> {
  try {
    const { stdout, stderr } = await run(command, args, {
      cwd: project,
      env: { ...process.env, ...env },
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** Processes that name this one as parent, or their parent; zombies do not count. */
export async function descendantsOf(pid: number): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,stat=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const children = (parent: number): number[] =>
    rows
      .filter(([, ppid, stat]) => Number(ppid) === parent && !stat?.startsWith('Z'))
      .flatMap(([child]) => [Number(child), ...children(Number(child))]);
  return children(pid);
}

export async function stillRunning(pids: readonly number[]): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,stat=']);
  const alive = new Set(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, stat]) => !stat?.startsWith('Z'))
      .map(([pid]) => Number(pid)),
  );
  return pids.filter((pid) => alive.has(pid));
}
