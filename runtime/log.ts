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
      const timestamp = new Date().toISOString();
      write({ level: lineLevel, message, timestamp, ...capFields({ ...bound, ...fields }) });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    error: at('error'),
    with: (fields) => createLog(write, level, { ...bound, ...fields }),
  };
}

/** What an error may tell the log: name, message, chain of causes; the stack only of bugs. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { error: error.message, errorName: error.name, ...cause };
}

/** A hostile spec must not be able to flood the log. */
function capFields(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' && value.length > MAX_FIELD_LENGTH
        ? `${value.slice(0, MAX_FIELD_LENGTH)}… (${value.length} characters)`
        : value,
    ]),
  );
}
