/** One object as a line of JSON. Never throws: a field that JSON cannot hold (a cycle) costs the line, not the caller. */
export function toJsonLine(line: object): string {
  try {
    return JSON.stringify(line, (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  } catch (error) {
    const { level = 'error', message, timestamp } = line as Readonly<Record<string, unknown>>;
    return JSON.stringify({ level, message, timestamp, unreadableFields: String(error) });
  }
}
