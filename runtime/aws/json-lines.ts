import { toJsonLine } from '../json-line.ts';

/** Writes each object as one line of JSON. Never throws: no line is worth the work it tells of. */
export const createJsonLines =
  (write: (text: string) => unknown) =>
  (line: object): void => {
    try {
      write(`${toJsonLine(line)}\n`);
    } catch {
      // Nobody is left to tell.
    }
  };
