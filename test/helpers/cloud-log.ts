import { createLog, type Log, type LogLine } from '../../runtime/log.ts';

/** A log that keeps its lines, debug ones too. */
export function createMemoryLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  return { log: createLog((line) => lines.push(line), 'debug'), lines };
}
