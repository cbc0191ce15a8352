/** Writes each object as one line of JSON. Never throws: no line is worth the work it tells of. */
export const createJsonLines =
  (write: (text: string) => unknown) =>
  (line: object): void => {
    try {
      write(`${toJson(line)}\n`);
    } catch {
      // Nobody is left to tell.
    }
  };

function toJson(line: object): string {
  try {
    return JSON.stringify(line, (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  } catch (error) {
    return JSON.stringify({
      level: 'error',
      message: 'a line could not be written',
      error: String(error),
    });
  }
}
