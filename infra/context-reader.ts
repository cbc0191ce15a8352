import type { ContextKeyName } from './context-keys.ts';

/** Something a person has to put right. */
export interface ContextProblem {
  readonly key: ContextKeyName;
  readonly what: string;
  /** The value as it came; undefined if there was none. */
  readonly got: unknown;
}

/** Reads single values and notes what is wrong with them, so that all problems are told at once. */
export interface ContextReader {
  readonly problems: readonly ContextProblem[];
  has(key: ContextKeyName): boolean;
  /** Undefined where there is no value, or one that is not text. */
  text(key: ContextKeyName): string | undefined;
  /** Entries between commas, trimmed; none where there is no value. Those that are wrong are noted and left out. */
  list(key: ContextKeyName, pattern?: RegExp): readonly string[];
  problem(key: ContextKeyName, what: string): void;
}

export function createContextReader(values: Readonly<Record<string, unknown>>): ContextReader {
  const problems: ContextProblem[] = [];
  const problem = (key: ContextKeyName, what: string): void => {
    problems.push({ key, what, got: values[key] });
  };
  const text = (key: ContextKeyName): string | undefined => {
    const value = values[key];
    if (value === undefined) return undefined;
    if (typeof value === 'string') return value.trim();
    // The command line only knows text, cdk.json these too.
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    problem(key, 'is not text');
    return undefined;
  };
  return {
    problems,
    problem,
    text,
    has: (key) => values[key] !== undefined,
    list: (key, pattern) => {
      const entries = text(key)?.split(',') ?? [];
      const trimmed = entries.map((entry) => entry.trim());
      return trimmed.filter((_, index) => {
        const what = faultOf(trimmed, index, pattern);
        if (what !== undefined) problem(key, what);
        return what === undefined;
      });
    },
  };
}

function faultOf(entries: readonly string[], index: number, pattern = /./): string | undefined {
  const entry = entries[index] ?? '';
  const quoted = JSON.stringify(entry);
  if (entry === '')
    return entries.length === 1 ? 'is empty' : `has an empty entry (number ${index + 1})`;
  if (entries.indexOf(entry) < index) return `has ${quoted} twice`;
  return pattern.test(entry) ? undefined : `has ${quoted}, which is not of the form expected`;
}
