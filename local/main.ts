import { UsageError } from './options.ts';

/** The signal aborts on Ctrl-C and SIGTERM. */
export type Main = (args: readonly string[], signal: AbortSignal) => Promise<void>;

/** Runs a command of the project: signals, exit codes and errors are the same for all of them. */
export async function runMain(main: Main): Promise<void> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      interrupted.abort(new Interruption(name));
    });
  }
  // Whoever read our output may go; the system stays until it is told to stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    await main(process.argv.slice(2), interrupted.signal);
    process.exitCode ??= 0;
  } catch (error) {
    process.exitCode = report(error, interrupted.signal);
  }
  // Workers and sockets are closed by now; a stray handle must not keep a finished command alive.
  process.exit();
}

class Interruption extends Error {}

function report(error: unknown, signal: AbortSignal): number {
  if (signal.aborted) {
    process.stderr.write('interrupted; everything is stopped\n');
    return 130;
  }
  const usage = error instanceof UsageError;
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: ${text}\n`);
  if (!usage && process.env['DEBUG'] && error instanceof Error)
    process.stderr.write(`${error.stack}\n`);
  return usage ? 2 : 1;
}
