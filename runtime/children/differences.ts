import type { FieldChange } from '../reconcile.ts';
import { fieldOf, isRecord } from '../untrusted.ts';
import { mergeKeysOf } from './merge-keys.ts';
import { holdsQuantity, sameQuantity } from './quantity.ts';
import { isSameAsAbsent } from './zero-values.ts';

/**
 * The fields of `wanted` that `live` does not have so. Fields of others in `live` do not count: those are left alone. What
 * the API server stores in another spelling (an empty map as nothing, 1000m as 1) is no difference.
 */
export const differences = (wanted: unknown, live: unknown, path = ''): readonly FieldChange[] =>
  compare(wanted, live, path, asStored);

/** Every field in which two versions of an object differ, in either direction. Both are as the API server tells them. */
export function changesBetween(before: unknown, after: unknown): readonly FieldChange[] {
  const removed = compare(before, after, '', toTheLetter)
    .filter(({ from }) => from === undefined)
    .map(({ path, to }) => fieldChange(path, to, undefined));
  return [...compare(after, before, '', toTheLetter), ...removed];
}

/** Whether two values that are not both maps or both lists are the same. */
type Sameness = (wanted: unknown, live: unknown, path: string) => boolean;

const toTheLetter: Sameness = (wanted, live) => wanted === live;

const asStored: Sameness = (wanted, live, path) => {
  // A template that leaves a field null has no opinion on it.
  if (wanted === live || wanted === undefined || wanted === null) return true;
  if (live === undefined || live === null) return isSameAsAbsent(wanted, path);
  return holdsQuantity(path) && sameQuantity(wanted, live);
};

function compare(
  wanted: unknown,
  live: unknown,
  path: string,
  isSame: Sameness,
): readonly FieldChange[] {
  if (isRecord(wanted) && isRecord(live)) {
    return Object.entries(wanted).flatMap(([name, value]) =>
      compare(value, fieldOf(live, name), path === '' ? name : `${path}.${name}`, isSame),
    );
  }
  if (Array.isArray(wanted) && Array.isArray(live)) return compareLists(wanted, live, path, isSame);
  return isSame(wanted, live, path) ? [] : [fieldChange(path, live, wanted)];
}

function compareLists(
  wanted: readonly unknown[],
  live: readonly unknown[],
  path: string,
  isSame: Sameness,
): readonly FieldChange[] {
  const keys = mergeKeysOf(path);
  const [ours, theirs] = keys ? [byKey(wanted, keys), byKey(live, keys)] : [];
  if (ours && theirs) {
    return [...ours].flatMap(([key, item]) =>
      compare(item, theirs.get(key), `${path}[${key}]`, isSame),
    );
  }
  if (wanted.length !== live.length) return [fieldChange(path, live, wanted)];
  return wanted.flatMap((item, index) => compare(item, live[index], `${path}[${index}]`, isSame));
}

/** `undefined` if an item has no key, or two have the same. */
function byKey(
  list: readonly unknown[],
  keys: readonly string[],
): ReadonlyMap<string, unknown> | undefined {
  const items = new Map<string, unknown>();
  for (const item of list) {
    const values = keys.map((name) => keyValue(item, name));
    const key = keys.map((name, index) => `${name}=${values[index]}`).join(',');
    if (values.includes(undefined) || items.has(key)) return undefined;
    items.set(key, item);
  }
  return items;
}

function keyValue(item: unknown, name: string): string | number | undefined {
  const value = fieldOf(item, name);
  if (typeof value === 'string' || typeof value === 'number') return value;
  // Of a port, where nothing else is said.
  return name === 'protocol' ? 'TCP' : undefined;
}

const fieldChange = (path: string, from: unknown, to: unknown): FieldChange => ({
  path,
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});
