import type { ItemKey } from './table.ts';

/**
 * Keys that cut the stretch between two sort keys into `parts` of about equal width; fewer where there is no room. DynamoDB
 * splits a large item collection by sort key, and what lies far apart is likely to lie on different machines.
 */
export function cutRange(low: ItemKey, high: ItemKey, parts: number): readonly ItemKey[] {
  const cuts = Array.from({ length: parts - 1 }, (_, index) =>
    between(low, high, (index + 1) / parts),
  );
  const known = cuts.filter((cut) => cut !== undefined);
  return known.filter((cut, index) => index === 0 || !sameKey(cut, known[index - 1]));
}

function between(low: ItemKey, high: ItemKey, share: number): ItemKey | undefined {
  if ('N' in low && 'N' in high) {
    const [from, to] = [Number(low.N), Number(high.N)];
    const cut = from + (to - from) * share;
    return cut > from && cut < to ? { N: String(cut) } : undefined;
  }
  if ('S' in low && 'S' in high) {
    const characters = betweenDigits(codePoints(low.S), codePoints(high.S), {
      base: 0x110000,
      share,
    });
    return characters && { S: String.fromCodePoint(...characters.map(outsideSurrogates)) };
  }
  if ('B' in low && 'B' in high) {
    const bytes = betweenDigits([...low.B], [...high.B], { base: 0x100, share });
    return bytes && { B: Uint8Array.from(bytes) };
  }
  return undefined;
}

const codePoints = (text: string): number[] => Array.from(text, (one) => one.codePointAt(0) ?? 0);

/** Halves of characters cannot be sent. */
const outsideSurrogates = (code: number): number =>
  code >= 0xd800 && code <= 0xdfff ? 0xe000 : code;

interface Scale {
  readonly base: number;
  readonly share: number;
}

/** What both have in common, and then two digits between theirs. */
function betweenDigits(
  low: readonly number[],
  high: readonly number[],
  { base, share }: Scale,
): readonly number[] | undefined {
  const common = high.findIndex((digit, index) => digit !== low[index]);
  if (common === -1) return undefined;
  const value = (digits: readonly number[]) =>
    (digits[common] ?? 0) * base + (digits[common + 1] ?? 0);
  const [from, to] = [value(low), value(high)];
  const cut = Math.round(from + (to - from) * share);
  if (cut <= from || cut >= to) return undefined;
  return [...high.slice(0, common), Math.floor(cut / base), cut % base];
}

const sameKey = (one: ItemKey, other: ItemKey | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
