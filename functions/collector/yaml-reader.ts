import { isAlias, isMap, isNode, isScalar, isSeq, type YAMLMap, type YAMLSeq } from 'yaml';
import type { ProblemAt } from './yaml-problem.ts';

export const yamlLimits = {
  /** Collections in one another. */
  depth: 20,
  /** Values and keys. */
  nodes: 10_000,
  /** Of all texts together. */
  characters: 256 * 1024,
  aliases: 100,
} as const;

/** A value and how much it holds, with each alias counted as what it stands for. */
interface Counted {
  readonly value: unknown;
  readonly depth: number;
  readonly nodes: number;
  readonly characters: number;
}

/** They reach objects that are not the data's own, or merge, which other parsers do even where it is quoted. */
const FORBIDDEN_KEYS: ReadonlySet<unknown> = new Set([
  '__proto__',
  'constructor',
  'prototype',
  '<<',
]);

export const tooDeep = (problemAt: ProblemAt, offset: number) =>
  problemAt(`must be nested at most ${yamlLimits.depth} deep`, offset);

/** Makes plain values of a tree whose own depth was checked. What an alias stands for is counted and shared, never copied. */
export function createYamlReader(problemAt: ProblemAt): (root: unknown) => unknown {
  const anchors = new Map<string, Counted | 'being read'>();
  let aliases = 0;

  const read = (node: unknown): Counted => {
    if (isAlias(node)) return readAlias(node.source, offsetOf(node));
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) anchors.set(anchor, 'being read');
    const counted = isMap(node)
      ? readMap(node)
      : isSeq(node)
        ? readList(node)
        : readScalar(node, problemAt);
    if (anchor !== undefined) anchors.set(anchor, counted);
    return counted;
  };

  const readAlias = (anchor: string, offset: number): Counted => {
    aliases += 1;
    if (aliases > yamlLimits.aliases) {
      throw problemAt(`must have at most ${yamlLimits.aliases} aliases`, offset);
    }
    const meant = anchors.get(anchor);
    if (meant === undefined) throw problemAt('must have an anchor for each alias', offset);
    if (meant === 'being read') throw problemAt('must not hold itself by an alias', offset);
    return meant;
  };

  const readList = (list: YAMLSeq): Counted => {
    const parts = list.items.map(read);
    return sumOf(
      parts,
      parts.map(({ value }) => value),
      list,
    );
  };

  const readMap = (map: YAMLMap): Counted => {
    const names = new Set<unknown>();
    const pairs = map.items.map(({ key, value }) => {
      const name = read(key);
      if (typeof name.value !== 'string') throw problemAt('must have texts as keys', offsetOf(map));
      if (FORBIDDEN_KEYS.has(name.value)) throw problemAt('has a forbidden key', offsetOf(key));
      if (names.has(name.value)) throw problemAt('must have each key once', offsetOf(key));
      names.add(name.value);
      return [name, read(value)] as const;
    });
    const value = Object.fromEntries(pairs.map(([name, { value }]) => [name.value, value]));
    return sumOf(pairs.flat(), value, map);
  };

  const sumOf = (parts: readonly Counted[], value: unknown, node: YAMLMap | YAMLSeq): Counted => {
    const sum = { value, depth: 1, nodes: 1, characters: 0 };
    for (const { depth, nodes, characters } of parts) {
      sum.depth = Math.max(sum.depth, depth + 1);
      sum.nodes += nodes;
      sum.characters += characters;
    }
    const { depth, nodes, characters } = yamlLimits;
    if (sum.depth > depth) throw tooDeep(problemAt, offsetOf(node));
    if (sum.nodes > nodes) throw problemAt(`must hold at most ${nodes} values`, offsetOf(node));
    if (sum.characters > characters) {
      throw problemAt(`must hold at most ${characters} characters of text`, offsetOf(node));
    }
    return sum;
  };

  return (root) => read(root).value;
}

function readScalar(node: unknown, problemAt: ProblemAt): Counted {
  const value = isScalar(node) ? node.value : null;
  const counted = { depth: 0, nodes: 1, characters: 0 };
  if (typeof value === 'string') return { ...counted, value, characters: value.length };
  if (value === null || typeof value === 'boolean') return { ...counted, value };
  const number = Number(value);
  const exact = typeof value === 'bigint' ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!exact) {
    throw problemAt('must quote a number that is not finite or beyond 2^53', offsetOf(node));
  }
  return { ...counted, value: number };
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);
