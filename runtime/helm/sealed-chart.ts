import type { ReleaseObject } from './manifest.ts';
import type { ChartMetadata } from './render.ts';

/**
 * A chart whose templates are the objects themselves, so that Helm applies exactly what was checked: nothing in it is
 * evaluated again.
 *
 * @returns its files, by path
 */
export function sealedChart(
  metadata: ChartMetadata,
  objects: readonly ReleaseObject[],
): ReadonlyMap<string, string> {
  const templates = objects.map(({ ref, body }, index): [string, string] => [
    `templates/${String(index).padStart(4, '0')}-${ref.kind.kind.toLowerCase()}.yaml`,
    `${sealed(body)}\n`,
  ]);
  return new Map([['Chart.yaml', sealed({ apiVersion: 'v2', ...metadata })], ...templates]);
}

/**
 * JSON, which is YAML too. Two braces begin an action of a template; they can only be inside of a text, where a brace may be
 * written as its code.
 */
export const sealed = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed() : part,
  )
    .replaceAll('{{', '{\\u007b')
    // No characters of a YAML text, or ends of lines in it.
    .replaceAll(/[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g, escaped);

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
