/** Sets of worker numbers in a short form, as `0-4,7,9-199`: the status of a Goop must stay small. */

export function formatIndexes(indexes: Iterable<number>): string {
  const spans: [first: number, last: number][] = [];
  for (const index of [...new Set(indexes)].toSorted((one, other) => one - other)) {
    const span = spans.at(-1);
    if (span && span[1] + 1 === index) span[1] = index;
    else spans.push([index, index]);
  }
  return spans.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** Numbers below `limit`. What cannot be read counts for nothing: those workers run again. */
export function parseIndexes(text: string, limit: number): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
    if (first === undefined) continue;
    for (let index = Number(first); index <= Math.min(Number(last), limit - 1); index += 1) {
      indexes.add(index);
    }
  }
  return indexes;
}
