import type { LogLine } from '../../runtime/log.ts';

/** Lambda answers `--log-type Tail` with this much. */
const MAX_BYTES = 4096;

/** The last lines of one run. */
export interface LogTail {
  append(line: LogLine): void;
  text(): string;
}

export function createLogTail(requestId: string): LogTail {
  let tail = `START RequestId: ${requestId} Version: $LATEST\n`;
  return {
    append: (line) => {
      tail = lastBytes(`${tail}${JSON.stringify(line)}\n`);
    },
    text: () => lastBytes(`${tail}END RequestId: ${requestId}\n`),
  };
}

function lastBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_BYTES) return text;
  // A cut inside a character leaves replacement characters in front.
  return bytes
    .subarray(-MAX_BYTES)
    .toString()
    .replace(/^\uFFFD+/, '');
}
