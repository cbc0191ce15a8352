/** Data of one log line. Never a spec's payload, an item key or a token. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log: the message is constant, data is in the fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose every line carries `fields` too. */
  with(fields: LogFields): Log;
}

export type LogLevel = 'debug' | 'info' | 'error';

export interface LogLine extends LogFields {
  readonly level: LogLevel;
  readonly message: string;
  readonly timestamp: string;
}

const MAX_FIELD_LENGTH = 1024;
const MAX_DEPTH = 6;
const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, error: 2 };

/**
 * @param write receives each line as an object; the platform prints it as one JSON line
 * @param level lines below it are dropped; default `info`
 */
export function createLog(
  write: (line: LogLine) => void,
  level: LogLevel = 'info',
  bound: LogFields = {},
): Log {
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (rank[lineLevel] < rank[level]) return;
      const own = { level: lineLevel, message, timestamp: new Date().toISOString() };
      // First for the eye, last for what counts: no field can pass for them.
      write({ ...own, ...capFields({ ...bound, ...fields }), ...own });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    error: at('error'),
    with: (fields) => createLog(write, level, { ...bound, ...fields }),
  };
}

/** What an error may tell the log: name, message, chain of causes; the stack only of bugs. */
export function describeError(error: unknown, depth = 0): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const known = error.cause === undefined || depth === MAX_DEPTH;
  const cause = known ? {} : { cause: describeError(error.cause, depth + 1) };
  return { error: error.message, errorName: error.name, ...cause };
}

/** A hostile spec must not be able to flood the log. */
const capFields = (fields: LogFields, depth = 0): LogFields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, cap(value, depth)]));

function cap(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return capText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((one) => cap(one, depth + 1));
  return capFields(value instanceof Error ? describeError(value) : { ...value }, depth + 1);
}

const capText = (text: string): string =>
  text.length > MAX_FIELD_LENGTH
    ? `${text.slice(0, MAX_FIELD_LENGTH)}… (${text.length} characters)`
    : text;
