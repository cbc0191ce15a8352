import { TerminalError } from '../errors.ts';

const MAX_PATH_BYTES = 255;
const MAX_SHOWN_CHARACTERS = 100;
/** No control characters, and nothing that another system takes for a separator. U+FFFD stands for bytes that are no text. */
const HOSTILE_CHARACTERS = /[\p{Cc}\\\uFFFD]/u;

/** A chart that will not get better by itself. */
export const invalidChart = (problem: string): TerminalError =>
  new TerminalError('InvalidChart', `the chart archive ${problem}`);

/** As it may stand in a message: an archive is anybody's text. */
export function quoted(name: string): string {
  const shown = name.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
  return `${JSON.stringify(shown)}${name.length > MAX_SHOWN_CHARACTERS ? '…' : ''}`;
}

/**
 * The parts of an entry's path, the first of which is the chart's folder. None for the archive's own `./`.
 * Only a plain path below the archive's root passes.
 */
export function partsOf(name: string): readonly string[] {
  const path = name.replace(/^(\.\/)+/, '').replace(/\/$/, '');
  if (path === '' || path === '.') return [];
  const parts = path.split('/');
  const plain =
    Buffer.byteLength(path) <= MAX_PATH_BYTES &&
    !HOSTILE_CHARACTERS.test(path) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (plain) return parts;
  throw invalidChart(
    `must hold only relative paths of at most ${MAX_PATH_BYTES} bytes without "..", "\\" or control characters, got ${quoted(name)}`,
  );
}
