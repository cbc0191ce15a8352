import { isRecord } from '../../runtime/untrusted.ts';
import { facetsOf } from './facets.ts';
import { resolve, type Schema } from './json-schema.ts';
import { typeOf } from './schema-type.ts';

/** A schema as a CRD may hold it. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

/** Anything goes. */
export const FREE: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true };

export interface ConversionOptions {
  /** What the chart itself gives: a value that is there need not be in the spec. */
  readonly defaults: unknown;
  /** Default true. */
  readonly descriptions?: boolean;
}

/** Deeper, or of more places in all, than anybody reads; definitions that refer to one another may never end. */
const MAX_DEPTH = 16;
const MAX_PLACES = 2_000;

/**
 * The JSON schema of a chart's values as the schema of a spec. A CRD can say less than a JSON schema: what it cannot say is
 * left to Helm, which checks the values again. It never refuses values that Helm would take.
 */
export function structuralSchemaOf(root: unknown, options: ConversionOptions): StructuralSchema {
  const { descriptions = true, defaults } = options;
  const document = { root, descriptions, places: 0 };
  const spec = convert(root, { document, depth: 0, references: [], defaults });
  const { nullable: _nullable, ...rest } = spec;
  return rest['type'] === 'object' ? rest : { type: 'object', ...FREE };
}

interface Place {
  readonly document: {
    readonly root: unknown;
    readonly descriptions: boolean;
    /** Seen so far. */
    places: number;
  };
  readonly depth: number;
  /** That led here. */
  readonly references: readonly string[];
  readonly defaults: unknown;
}

function convert(schema: unknown, at: Place): StructuralSchema {
  const { document, depth } = at;
  document.places += 1;
  if (document.places > MAX_PLACES || depth > MAX_DEPTH) return FREE;
  const resolved = resolve(schema, document.root, at.references);
  if (!resolved) return FREE;
  const description = document.descriptions ? descriptionOf(resolved.schema) : {};
  const here = { ...at, references: resolved.references };
  return { ...description, ...convertResolved(resolved.schema, here) };
}

const deeper = (schema: unknown, at: Place, defaults: unknown): StructuralSchema =>
  convert(schema, { ...at, depth: at.depth + 1, defaults });

function convertResolved(schema: Schema, at: Place): StructuralSchema {
  const { type, nullable } = typeOf(schema);
  const hasDefaults = at.defaults !== undefined;
  // Null takes a default of the chart away.
  const orNull = nullable || hasDefaults ? { nullable: true } : {};
  if (type === 'intOrString') return { 'x-kubernetes-int-or-string': true, ...orNull };
  if (type === undefined) return FREE;
  const facets = facetsOf(schema, type, { nullable: nullable || hasDefaults, hasDefaults });
  const whole = { type, ...orNull, ...facets };
  if (type === 'object') return { ...whole, ...propertiesOf(schema, at) };
  return type === 'array' ? { ...whole, items: itemsOf(schema, at) } : whole;
}

function propertiesOf(schema: Schema, at: Place): StructuralSchema {
  const named = isRecord(schema['properties']) ? schema['properties'] : {};
  const names = Object.keys(named);
  // Keys that match a pattern are beyond what a CRD can tell.
  const rest = 'patternProperties' in schema || schema['additionalProperties'];
  const closed = rest === false;
  const required = requiredOf(schema, at, closed ? names : undefined);
  const asked = required.length > 0 ? { required } : {};
  if (names.length === 0 && isRecord(rest)) {
    const defaults = at.defaults === undefined ? undefined : UNKNOWN_DEFAULTS;
    return { ...asked, additionalProperties: deeper(rest, at, defaults) };
  }
  const properties = Object.fromEntries(
    names.map((name) => [name, deeper(named[name], at, defaultOf(at, name))]),
  );
  return { ...asked, ...(names.length > 0 && { properties }), ...(!closed && FREE) };
}

/** A list replaces the chart's own as a whole, so nothing in it has a default. */
const itemsOf = ({ items }: Schema, at: Place): StructuralSchema =>
  isRecord(items) ? deeper(items, at, undefined) : FREE;

/** Of a map whose keys are anybody's: some have defaults, and nobody knows which. */
const UNKNOWN_DEFAULTS = Symbol('some');

const defaultOf = ({ defaults }: Place, name: string): unknown => {
  if (defaults === UNKNOWN_DEFAULTS) return UNKNOWN_DEFAULTS;
  return isRecord(defaults) && Object.hasOwn(defaults, name)
    ? (defaults[name] ?? undefined)
    : undefined;
};

/** Helm asks for these after the chart's own values are in; a spec has to give only what the chart does not. */
function requiredOf(
  { required }: Schema,
  at: Place,
  known: readonly string[] | undefined,
): readonly string[] {
  if (!Array.isArray(required)) return [];
  const names = required.filter((name) => typeof name === 'string');
  return [...new Set(names)].filter(
    (name) => defaultOf(at, name) === undefined && (known?.includes(name) ?? true),
  );
}

const MAX_DESCRIPTION = 500;

function descriptionOf({ description, title }: Schema): { readonly description?: string } {
  const text = typeof description === 'string' ? description : title;
  return typeof text === 'string' && text.trim() !== ''
    ? { description: text.trim().slice(0, MAX_DESCRIPTION) }
    : {};
}
