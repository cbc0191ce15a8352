/**
 * What a rule looks for: every key must match, by any value of its list; keys nest. Only exact matches, which is all
 * that our rules need of EventBridge's patterns.
 */
export interface EventPattern {
  readonly [key: string]: EventPattern | readonly PatternValue[];
}

export type PatternValue = string | number | boolean | null;

/** Throws for a pattern that would match nothing or not mean here what it means to EventBridge. */
export function checkPattern(pattern: EventPattern, path = ''): void {
  if (Object.keys(pattern).length === 0) {
    throw new Error(`event pattern must have at least one key${path === '' ? '' : ` at ${path}`}`);
  }
  for (const [key, wanted] of Object.entries(pattern)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (!isList(wanted)) checkPattern(wanted, at);
    else if (wanted.length === 0) throw new Error(`event pattern ${at} must list a value`);
    else for (const value of wanted) checkValue(value, at);
  }
}

export function matchesPattern(pattern: EventPattern, event: unknown): boolean {
  return Object.entries(pattern).every(([key, wanted]) => {
    const actual = isRecord(event) && Object.hasOwn(event, key) ? event[key] : undefined;
    if (!isList(wanted)) return matchesPattern(wanted, actual);
    // As on EventBridge, a list in the event matches by any of its values.
    const values: readonly unknown[] = Array.isArray(actual) ? actual : [actual];
    return values.some((value) => wanted.some((one) => one === value));
  });
}

function checkValue(value: unknown, at: string): void {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return;
  throw new Error(
    `event pattern ${at} must list strings, numbers, booleans or null, got ${JSON.stringify(value)}`,
  );
}

const isList = (value: EventPattern | readonly PatternValue[]): value is readonly PatternValue[] =>
  Array.isArray(value);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
