import { TerminalError } from '../../runtime/errors.ts';
import { isRecord } from '../../runtime/untrusted.ts';
import { decodeBase64 } from './base64.ts';
import { parsePlainYaml } from './plain-yaml.ts';
import { YamlProblem } from './yaml-problem.ts';

const FIELD = 'spec.collector.configuration';
const MAX_BYTES = 64 * 1024;
/** All but those that YAML allows. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t\n\r\x85]/u;

/** A chart's values; JSON can hold all of them. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * The chart's values out of the base64 of a YAML document; none if there is no configuration. Throws a TerminalError that names
 * the field and the place, and never what stands there: configurations hold passwords.
 */
export function parseConfiguration(value: unknown): Values {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'string') throw invalid('must be a text in base64');
  const content = read(decode(value));
  if (content === undefined || content === null) return {};
  if (!isRecord(content)) throw invalid('must be a YAML map of values at its top');
  return content;
}

function decode(encoded: string): string {
  const decoded = decodeBase64(encoded, MAX_BYTES);
  if (!decoded.ok) {
    throw invalid(
      decoded.problem === 'too long'
        ? `must be at most 64 KB once decoded, got ${encoded.length} characters of base64`
        : 'must be base64 (A-Z a-z 0-9 + / with = at its end, line breaks allowed), got something else',
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decoded.bytes);
  } catch {
    throw invalid('must be base64 of UTF-8 text, got other bytes');
  }
}

function read(text: string): unknown {
  if (CONTROL_CHARACTERS.test(text)) throw invalid('must hold no control characters');
  try {
    return parsePlainYaml(text);
  } catch (error) {
    // The message of any other error may repeat the text, and no cause is kept: causes are logged.
    throw invalid(error instanceof YamlProblem ? error.message : 'must be YAML that can be read');
  }
}

const invalid = (problem: string): TerminalError =>
  new TerminalError('InvalidConfiguration', `${FIELD} ${problem}`);
