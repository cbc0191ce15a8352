import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** Typed reading of a resource's properties. Every error names the place in the template. */
export interface Fields {
  readonly path: string;
  readonly raw: JsonObject;
  has(key: string): boolean;
  text(key: string): string;
  optionalText(key: string): string | undefined;
  number(key: string): number;
  optionalNumber(key: string): number | undefined;
  optionalFlag(key: string): boolean | undefined;
  texts(key: string): readonly string[];
  fields(key: string): Fields;
  optionalFields(key: string): Fields | undefined;
  /** Empty if there is none. */
  list(key: string): readonly Fields[];
}

/** @param path for messages: `<logical id>.<property>` */
export function fieldsOf(raw: Json | undefined, path: string): Fields {
  if (!isObject(raw)) throw wrong(path, 'an object', raw);
  const at = (key: string): string => `${path}.${key}`;

  const read =
    <T>(expected: string, convert: (value: Json) => T | undefined) =>
    (key: string): T => {
      const value = raw[key];
      const converted = value === undefined ? undefined : convert(value);
      if (converted === undefined) throw wrong(at(key), expected, value);
      return converted;
    };
  const optional =
    <T>(get: (key: string) => T) =>
    (key: string): T | undefined =>
      raw[key] === undefined ? undefined : get(key);

  const text = read('a text', toText);
  const number = read('a number', toNumber);
  const fields = (key: string): Fields => fieldsOf(raw[key], at(key));
  const elements = read('a list', (value) => (isList(value) ? value : undefined));
  return {
    path,
    raw,
    has: (key) => raw[key] !== undefined,
    text,
    optionalText: optional(text),
    number,
    optionalNumber: optional(number),
    optionalFlag: optional(read('true or false', toFlag)),
    texts: read('a list of texts', toTexts),
    fields,
    optionalFields: optional(fields),
    list: (key) =>
      (optional(elements)(key) ?? []).map((value, index) =>
        fieldsOf(value, `${at(key)}[${index}]`),
      ),
  };
}

// CloudFormation takes numbers and flags as text too, and the other way round.
const toText = (value: Json): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const toNumber = (value: Json): number | undefined =>
  (typeof value === 'number' || typeof value === 'string') && /^-?\d+(\.\d+)?$/.test(String(value))
    ? Number(value)
    : undefined;

function toFlag(value: Json): boolean | undefined {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
}

const toTexts = (value: Json): readonly string[] | undefined =>
  isList(value) && value.every((one) => typeof one === 'string') ? value : undefined;

const wrong = (path: string, expected: string, got: unknown): Error =>
  new Error(`template: ${path} must be ${expected}, got ${JSON.stringify(got) ?? 'nothing'}`);
