import { type CST, type LineCounter, Parser } from 'yaml';

/** Tokens of a text. The parser keeps a stack of its own, so that no text can make it fail; it takes a time that grows with the text. */
export const tokensOf = (text: string, lines: LineCounter): readonly CST.Token[] => [
  ...new Parser(lines.addNewLine).parse(text),
];

interface Visit {
  readonly token: CST.Token;
  /** Collections around it. */
  readonly depth: number;
}

/**
 * Where collections are nested deeper than `maxDepth`. To be asked before a tree is made of the tokens, which is done by
 * recursion. Does not recurse itself.
 */
export function tooDeepAt(tokens: readonly CST.Token[], maxDepth: number): number | undefined {
  const waiting: Visit[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let visit = waiting.pop(); visit; visit = waiting.pop()) {
    const { token, depth } = visit;
    if (token.type === 'document') {
      if (token.value) waiting.push({ token: token.value, depth });
    } else if ('items' in token) {
      if (depth === maxDepth) return token.offset;
      for (const { key, value } of token.items) {
        for (const inner of [key, value]) {
          if (inner) waiting.push({ token: inner, depth: depth + 1 });
        }
      }
    }
  }
  return undefined;
}
