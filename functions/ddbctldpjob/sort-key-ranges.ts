import type { ItemKey } from './table.ts';

/**
 * Keys that cut the stretch between two sort keys into `parts` that hold about as much; fewer where there is no room.
 * DynamoDB splits a large item collection by sort key, and what lies far apart is likely to lie on different machines.
 * @param seen some keys of the stretch: how they are made is how the others will be
 */
export function cutRange(
  low: ItemKey,
  high: ItemKey,
  parts: number,
  seen: readonly ItemKey[] = [],
): readonly ItemKey[] {
  const between = scaleOf(low, high, seen);
  const cuts = Array.from({ length: parts - 1 }, (_, index) => between((index + 1) / parts));
  const known = cuts.filter((cut) => cut !== undefined);
  return known.filter((cut, index) => index === 0 || !sameKey(cut, known[index - 1]));
}

/** The key that has so large a share of the stretch before it. */
type Scale = (share: number) => ItemKey | undefined;

function scaleOf(low: ItemKey, high: ItemKey, seen: readonly ItemKey[]): Scale {
  if ('N' in low && 'N' in high) {
    const [from, to] = [Number(low.N), Number(high.N)];
    return (share) => {
      const cut = from + (to - from) * share;
      return cut > from && cut < to ? { N: String(cut) } : undefined;
    };
  }
  if ('S' in low && 'S' in high) {
    const [from, to] = [codePoints(low.S), codePoints(high.S)];
    const step = Math.ceil(seen.length / MOST_SAMPLES);
    const samples = seen.filter((_, index) => index % step === 0);
    const others = samples.flatMap((key) => ('S' in key ? [codePoints(key.S)] : []));
    const between = symbolScale(from, to, symbolsOfText([from, to, ...others]));
    return (share) => {
      const symbols = between(share);
      return symbols && { S: String.fromCodePoint(...symbols) };
    };
  }
  if ('B' in low && 'B' in high) {
    const between = symbolScale([...low.B], [...high.B], () => anyByte);
    return (share) => {
      const symbols = between(share);
      return symbols && { B: Uint8Array.from(symbols) };
    };
  }
  return () => undefined;
}

/** DynamoDB orders texts by their bytes in UTF-8, which is the order of code points. */
const codePoints = (text: string): readonly number[] =>
  Array.from(text, (one) => one.codePointAt(0) ?? 0);

/** They tell as much as all of a page, whose keys may be of a thousand characters each. */
const MOST_SAMPLES = 100;

type Symbols = readonly number[];

/** What may stand at a position of the keys between two, in order. */
type SymbolsAt = (position: number) => Symbols;

/** Before all symbols: the key has ended. */
const END = -1;
const anyByte = Array.from({ length: 0x101 }, (_, index) => END + index);
/** Numbers up to here are exact. */
const MOST_STEPS = 2 ** 50;

/** Keys as numbers whose digits are symbols, each position with a base of its own. */
function symbolScale(low: Symbols, high: Symbols, symbolsAt: SymbolsAt) {
  const common = high.findIndex((symbol, index) => symbol !== low[index]);
  const bases = common === -1 ? [] : basesFrom(common, symbolsAt);
  const numberOf = (key: Symbols): number =>
    bases.reduce(
      (value, base, index) => value * base.length + base.indexOf(key[common + index] ?? END),
      0,
    );
  const [from, to] = [numberOf(low), numberOf(high)];
  return (share: number): Symbols | undefined => {
    let value = Math.floor(from + (to - from) * share);
    if (value <= from || value >= to) return undefined;
    const cut: number[] = [];
    for (const base of bases.toReversed()) {
      cut.unshift(base[value % base.length] ?? END);
      value = Math.floor(value / base.length);
    }
    const end = cut.indexOf(END);
    const symbols = [...high.slice(0, common), ...(end === -1 ? cut : cut.slice(0, end))];
    // One that ends early may be no more than the lower key.
    return compare(symbols, low) > 0 ? symbols : undefined;
  };
}

function basesFrom(first: number, symbolsAt: (position: number) => Symbols): readonly Symbols[] {
  const bases: Symbols[] = [];
  let steps = 1;
  for (let position = first; ; position += 1) {
    const base = symbolsAt(position);
    steps *= base.length;
    if (steps > MOST_STEPS || base.every((symbol) => symbol === END)) return bases;
    bases.push(base);
  }
}

function compare(one: Symbols, other: Symbols): number {
  const index = one.findIndex((symbol, at) => symbol !== other[at]);
  return index === -1 ? one.length - other.length : (one[index] ?? END) - (other[index] ?? END);
}

const DIGITS = codePoints('0123456789');
const UPPER_CASE = codePoints('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const LOWER_CASE = codePoints('abcdefghijklmnopqrstuvwxyz');

/** Where a digit stands, any may; where a letter stands, any from the first to the last one that was seen anywhere. */
function symbolsOfText(keys: readonly Symbols[]): SymbolsAt {
  const seen = [...new Set(keys.flat())];
  const classes = [DIGITS, spanOf(seen, UPPER_CASE), spanOf(seen, LOWER_CASE)];
  return (position) => {
    const here = new Set(keys.map((key) => key[position] ?? END));
    const likely = classes.filter((span) => span.some((symbol) => here.has(symbol))).flat();
    return [...new Set([...here, ...likely])].sort((one, other) => one - other);
  };
}

const spanOf = (seen: Symbols, letters: Symbols): Symbols => {
  const known = letters.filter((letter) => seen.includes(letter));
  return letters.slice(letters.indexOf(known[0] ?? END), letters.indexOf(known.at(-1) ?? END) + 1);
};

const sameKey = (one: ItemKey, other: ItemKey | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
