import type { ContextKeyName } from './context-keys.ts';
import type { ContextReader } from './context-reader.ts';

/** Notes entries that together are longer than AWS takes. */
export function limitText(
  reader: ContextReader,
  key: ContextKeyName,
  entries: readonly string[],
  max: number,
): void {
  const { length } = entries.join();
  if (length > max)
    reader.problem(key, `needs ${length} characters on AWS, where at most ${max} fit`);
}
