import { isRecord } from '../../runtime/untrusted.ts';

/** A JSON schema that nobody has checked. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Resolved {
  readonly schema: Schema;
  /** All that were followed to get here. */
  readonly references: readonly string[];
}

/** Longer chains are most likely a loop. */
const MAX_REFERENCES = 10;

/**
 * The schema that is meant: a reference is followed, and the parts of an allOf are one. `undefined` if that is anything, or
 * cannot be known: another document, a definition that holds itself.
 */
export function resolve(
  schema: unknown,
  root: unknown,
  references: readonly string[],
): Resolved | undefined {
  if (!isRecord(schema) || references.length > MAX_REFERENCES) return undefined;
  const { $ref: reference, allOf, ...own } = schema;
  if (typeof reference === 'string') {
    if (references.includes(reference)) return undefined;
    const target = resolve(targetOf(reference, root), root, [...references, reference]);
    // Drafts disagree on what stands beside a reference; its description does no harm.
    const { description } = own;
    return (
      target && {
        ...target,
        schema: { ...target.schema, ...(description !== undefined && { description }) },
      }
    );
  }
  if (!Array.isArray(allOf)) return { schema, references };
  const parts = allOf.flatMap((part) => resolve(part, root, references) ?? []);
  return parts.reduce<Resolved>(
    (whole, part) => ({
      schema: merged(whole.schema, part.schema),
      references: [...new Set([...whole.references, ...part.references])],
    }),
    { schema: own, references },
  );
}

/** What only one of them says holds; where both say something, it is the first. */
function merged(one: Schema, other: Schema): Schema {
  const [mine, theirs] = [propertiesOf(one), propertiesOf(other)];
  const both = Object.keys(theirs).filter((name) => Object.hasOwn(mine, name));
  const shared = both.map((name) => [name, { allOf: [mine[name], theirs[name]] }]);
  const required = [one['required'], other['required']].flatMap((names) => names ?? []);
  return {
    ...other,
    ...one,
    ...(Object.keys({ ...mine, ...theirs }).length > 0 && {
      properties: { ...theirs, ...mine, ...Object.fromEntries(shared) },
    }),
    ...(required.length > 0 && { required }),
  };
}

const propertiesOf = ({ properties }: Schema): Schema => (isRecord(properties) ? properties : {});

/** Only within the same document, by a pointer such as `#/definitions/port`. */
function targetOf(reference: string, root: unknown): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let target = root;
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step);
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) {
      return undefined;
    }
    target = (target as Schema)[name];
  }
  return target;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
