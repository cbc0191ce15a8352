import { isRecord } from '../../runtime/untrusted.ts';
import type { Schema } from './json-schema.ts';

const known = ['string', 'integer', 'number', 'boolean', 'object', 'array'] as const;

export type ScalarType = (typeof known)[number];

export interface SchemaType {
  /** `undefined`: several, or none that is known. A CRD has one type for each field. */
  readonly type: ScalarType | 'intOrString' | undefined;
  readonly nullable: boolean;
}

export function typeOf(schema: Schema): SchemaType {
  const types = new Set(namedTypes(schema) ?? variantTypes(schema) ?? [guessedType(schema)]);
  const nullable = types.delete('null');
  // Every whole number is a number.
  if (types.has('number')) types.delete('integer');
  const [type, ...others] = types;
  if (others.length === 0) return { type: known.find((name) => name === type), nullable };
  const intOrString = types.size === 2 && types.has('integer') && types.has('string');
  return { type: intOrString ? 'intOrString' : undefined, nullable };
}

function namedTypes({ type }: Schema): readonly unknown[] | undefined {
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type : undefined;
}

/** `oneOf: [{ type: integer }, { type: string }]`, if all of them have a type. */
function variantTypes({ oneOf, anyOf }: Schema): readonly unknown[] | undefined {
  const variants = oneOf ?? anyOf;
  if (!Array.isArray(variants)) return undefined;
  return variants.flatMap((variant) => (isRecord(variant) ? namedTypes(variant) : undefined) ?? '');
}

function guessedType(schema: Schema): string {
  if (isRecord(schema['properties'])) return 'object';
  if (isRecord(schema['items'])) return 'array';
  const values = Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']];
  const [type, ...others] = new Set(values.map((value) => typeof value));
  return others.length === 0 && (type === 'string' || type === 'boolean' || type === 'number')
    ? type
    : '';
}
