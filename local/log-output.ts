import { createWriteStream } from 'node:fs';
import type { LogLine } from '../runtime/log.ts';
import type { Console } from './console.ts';

export interface LogFile {
  write(source: string, line: LogLine): void;
  close(): Promise<void>;
}

/** Every line of every function, as JSON. */
export function createLogFile(path: string): LogFile {
  const stream = createWriteStream(path, { flags: 'w' });
  return {
    write: (source, line) => {
      stream.write(`${JSON.stringify({ source, ...line })}\n`);
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}

/** For a person at the terminal: one short line per reconcile, and every error. */
export function logToConsole(output: Console, source: string, line: LogLine): void {
  const time = line.timestamp.slice(11, 19);
  const subject = subjectOf(line);
  if (line.message === 'reconcile finished') {
    const { outcome, reason, durationMs } = line as {
      outcome?: unknown;
      reason?: unknown;
      durationMs?: unknown;
    } & LogLine;
    output.line(
      `${time} ${source} ${subject} ${String(outcome)} in ${String(durationMs)} ms: ${String(reason)}`,
    );
  } else if (line.level === 'error') {
    const detail = typeof line['error'] === 'string' ? `: ${line['error']}` : '';
    output.line(`${time} ${source} ${subject} ${line.message}${detail}`);
  }
}

function subjectOf(line: LogLine): string {
  const object = line['object'] as { namespace?: string; name?: string } | undefined;
  return object ? `${object.namespace}/${object.name}` : '-';
}
