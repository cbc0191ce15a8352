import type { Schema } from './json-schema.ts';
import { isRe2 } from './re2.ts';
import type { ScalarType } from './schema-type.ts';

export interface FacetOptions {
  readonly nullable: boolean;
  /** The chart gives a part of the value, so its size cannot be told from the spec alone. */
  readonly hasDefaults: boolean;
}

/**
 * What a value of a type must be like, in the words of a CRD. Left to Helm: formats, on which validators disagree, and unique
 * items, which the API server does not take.
 */
export function facetsOf(schema: Schema, type: ScalarType, options: FacetOptions): Schema {
  switch (type) {
    case 'string':
      return {
        ...counts(schema, 'minLength', 'maxLength'),
        ...pattern(schema),
        ...choices(schema, type, options),
      };
    case 'integer':
    case 'number':
      return { ...range(schema), ...choices(schema, type, options) };
    case 'boolean':
      return choices(schema, type, options);
    case 'array':
      return counts(schema, 'minItems', 'maxItems');
    case 'object':
      return options.hasDefaults ? {} : counts(schema, 'minProperties', 'maxProperties');
  }
}

const counts = (schema: Schema, ...names: readonly string[]): Schema =>
  Object.fromEntries(
    names
      .map((name) => [name, schema[name]] as const)
      .filter(([, value]) => Number.isSafeInteger(value) && Number(value) >= 0),
  );

function pattern({ pattern: text }: Schema): Schema {
  return typeof text === 'string' && isRe2(text) ? { pattern: text } : {};
}

/** Newer drafts have a number where a CRD, as older drafts, has a flag beside the limit. */
function range(schema: Schema): Schema {
  return {
    ...limit('minimum', 'exclusiveMinimum', schema, (a, b) => a >= b),
    ...limit('maximum', 'exclusiveMaximum', schema, (a, b) => a <= b),
    ...(isNumber(schema['multipleOf']) &&
      schema['multipleOf'] > 0 && { multipleOf: schema['multipleOf'] }),
  };
}

function limit(
  name: string,
  exclusiveName: string,
  schema: Schema,
  isStricter: (a: number, b: number) => boolean,
): Schema {
  const [inclusive, exclusive] = [schema[name], schema[exclusiveName]];
  if (isNumber(exclusive) && (!isNumber(inclusive) || isStricter(exclusive, inclusive))) {
    return { [name]: exclusive, [exclusiveName]: true };
  }
  return isNumber(inclusive)
    ? { [name]: inclusive, ...(exclusive === true && { [exclusiveName]: true }) }
    : {};
}

function choices(schema: Schema, type: ScalarType, { nullable }: FacetOptions): Schema {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']];
  const name = type === 'integer' ? 'number' : type;
  const fitting = [...new Set(values)].filter((value) => typeof value === name);
  if (fitting.length === 0) return {};
  if (!nullable) return { enum: fitting };
  // The API server refuses null for any enum, even one that has it; a pattern is for texts alone.
  const texts = fitting.map((value) => String(value).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return type === 'string' ? { pattern: `^(${texts.join('|')})$` } : {};
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);
