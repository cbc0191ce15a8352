import {
  type DocumentOptions,
  type ParseOptions,
  parseAllDocuments,
  type ScalarTag,
  type SchemaOptions,
} from 'yaml';
import { TerminalError } from '../errors.ts';

const scalar = (name: string, test: RegExp, resolve: ScalarTag['resolve']): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test,
  resolve,
});

/**
 * Plain scalars as Helm's own parser reads them: YAML 1.1 booleans (`yes`, `off`) and octal numbers, but neither times nor
 * numbers to the base of 60.
 */
const scalars: readonly ScalarTag[] = [
  scalar('null', /^(?:~|null|Null|NULL)?$/, () => null),
  scalar('bool', /^(?:[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  scalar('bool', /^(?:[nN]|no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  scalar(
    'int',
    /^[-+]?(?:0[bB]_*[01][01_]*|0[oO]_*[0-7][0-7_]*|0[xX]_*[\da-fA-F][\da-fA-F_]*|0[0-7_]*|[1-9][\d_]*)$/,
    wholeNumber,
  ),
  scalar('float', /^[-+]?(?:\.\d[\d_]*|\d[\d_]*(?:\.[\d_]*)?)(?:[eE][-+]?\d[\d_]*)?$/, (text) => {
    const number = Number(text.replaceAll('_', ''));
    return Number.isFinite(number) ? number : text;
  }),
];

function wholeNumber(text: string, onError: (message: string) => void): number {
  const plain = text.replaceAll('_', '').replace(/^\+/, '');
  const [sign, digits] = plain.startsWith('-') ? [-1, plain.slice(1)] : [1, plain];
  const number = sign * Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  // To go on would be to apply another number than the chart says.
  if (!Number.isSafeInteger(number)) onError('a whole number beyond 2^53');
  return number;
}

const options: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  schema: 'failsafe',
  customTags: [...scalars, 'merge'],
  merge: true,
  // The last one counts, as it does for Helm.
  uniqueKeys: false,
  stringKeys: false,
};

export interface ManifestDocument {
  /** The template it comes from, as Helm notes it. */
  readonly source: string;
  readonly value: unknown;
}

const NO_SOURCE = 'the manifest';

/** The documents of a rendered manifest, without the empty ones. Messages never quote it: it may hold secrets. */
export function parseManifest(text: string): readonly ManifestDocument[] {
  try {
    return parseAllDocuments(text, options).flatMap((document) => {
      // A warning is a tag that nobody knows: to go on would be to apply something else than the chart says.
      const [problem] = [...document.errors, ...document.warnings];
      if (problem) throw notYaml(sourceBefore(text, problem.pos[0]), problem.code);
      const value: unknown = document.toJS();
      const source = sourceIn(document.contents?.commentBefore ?? '');
      return value === null || value === undefined ? [] : [{ source, value }];
    });
  } catch (error) {
    // Too deep, or too many aliases: the parser's message may quote the text.
    throw error instanceof TerminalError ? error : notYaml(NO_SOURCE, 'too complex');
  }
}

/** What Helm has stored. Manifests that we made are JSON, a line for each object, and so are soon read. */
export function parseStored(text: string): readonly ManifestDocument[] {
  const lines = text.split('\n').filter((line) => !/^(---|# .*|)$/.test(line));
  try {
    return lines.map((line) => ({ source: NO_SOURCE, value: JSON.parse(line) as unknown }));
  } catch {
    return parseManifest(text);
  }
}

const notYaml = (source: string, code: string): TerminalError =>
  new TerminalError('RenderFailed', `${source} does not render to valid YAML (${code})`);

const sourceIn = (comment: string): string => /^ ?Source: (\S+)/m.exec(comment)?.[1] ?? NO_SOURCE;

function sourceBefore(text: string, position: number): string {
  const marks = [...text.slice(0, position).matchAll(/^# Source: (\S+)/gm)];
  return marks.at(-1)?.[1] ?? NO_SOURCE;
}
