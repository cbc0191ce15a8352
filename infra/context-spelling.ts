import { type ContextKeyName, contextKeys } from './context-keys.ts';

const names = Object.keys(contextKeys) as readonly ContextKeyName[];

/**
 * The key that was probably meant by one that does not exist. Others may use the context too, so what is not close to
 * a key of ours is left alone.
 */
export function likelyMeant(key: string): ContextKeyName | undefined {
  if (names.some((name) => name === key)) return undefined;
  const stem = stemOf(key);
  // In a short word two changes make another word.
  const tolerated = stem.length < 6 ? 1 : 2;
  return names.find((name) => editDistance(stem, stemOf(name)) <= tolerated);
}

/** `clusterNames`, `cluster` and `clusters` have the same. */
const stemOf = (key: string): string =>
  key
    .toLowerCase()
    .replaceAll(/[-_]/g, '')
    .replace(/s$/, '')
    .replace(/(?:id|name|arn|day)$/, '');

/** Characters to add, remove or change. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const [removed = 0, kept = 0, added = 0] = [row[j + 1], row[j], next[j]];
      next.push(Math.min(removed + 1, added + 1, kept + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
