import type { DdbctlDpJob } from './generated/ddbctldpjob.ts';

export type JobStatus = Omit<
  NonNullable<DdbctlDpJob['status']>,
  'conditions' | 'observedGeneration' | 'lastHandledReconcileAt'
>;

/** What is to be done; another target is another job. */
export type Target = NonNullable<JobStatus['target']>;

/** Where a table is. */
export type Place = Pick<Target, 'tableName' | 'awsRegion' | 'endpointURL'>;

export interface JobSpec {
  readonly target: Target;
  readonly suspend: boolean;
  readonly maxItems?: number;
  readonly maxWriteUnitsPerSecond?: number;
  readonly ttlSecondsAfterFinished?: number;
}

export type ParsedSpec =
  | { readonly ok: true; readonly value: JobSpec }
  | { readonly ok: false; readonly problem: string };

type Fields = Readonly<Record<string, unknown>>;

const DEFAULT_REGION = 'us-east-1';
const defaults: Fields = { awsRegion: DEFAULT_REGION };
const TARGET_FIELDS = ['tableName', 'partitionValue', 'awsRegion', 'endpointURL'] as const;
const MAX_SHOWN_CHARACTERS = 200;

/**
 * Reads either shape of the spec. The CRD refuses most of these mistakes at admission; an object that was stored before
 * the CRD had its rules comes to this.
 */
export function parseSpec(spec: unknown): ParsedSpec {
  try {
    return { ok: true, value: readSpec(spec) };
  } catch (error) {
    if (error instanceof SpecProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** Where the table of a spec is, whose other fields are not known. Undefined if it is nowhere. */
export function parsePlace(fields: Fields): Place | undefined {
  try {
    return readPlace((name) => ({ path: name, value: fields[name] }));
  } catch (error) {
    if (error instanceof SpecProblem) return undefined;
    throw error;
  }
}

class SpecProblem extends Error {}

function readSpec(spec: unknown): JobSpec {
  const flat = objectAt(spec, 'spec');
  const nested = flat['ddbCtlDpJob'];
  // The CRD puts its default of awsRegion there, whichever shape is used.
  const clashing = TARGET_FIELDS.filter(
    (field) => flat[field] !== undefined && flat[field] !== defaults[field],
  );
  if (nested !== undefined && clashing.length > 0) {
    throw new SpecProblem(
      `spec.ddbCtlDpJob and spec.${clashing[0]} exclude each other: use one of the two shapes`,
    );
  }
  const path = nested === undefined ? 'spec' : 'spec.ddbCtlDpJob';
  const inner = nested === undefined ? flat : objectAt(nested, path);
  const field = (name: string): Field => ({ path: `${path}.${name}`, value: inner[name] });
  // Options may stand in either place; where the partition stands comes first.
  const option = (name: string): Field =>
    inner[name] === undefined ? { path: `spec.${name}`, value: flat[name] } : field(name);
  return {
    target: {
      ...readPlace(field),
      partitionValue: text(field('partitionValue'), partitionValue),
      dryRun: flag(option('dryRun')),
    },
    suspend: flag(option('suspend')),
    ...wholeNumber('maxItems', option('maxItems'), 0),
    ...wholeNumber('maxWriteUnitsPerSecond', option('maxWriteUnitsPerSecond'), 1),
    ...wholeNumber('ttlSecondsAfterFinished', option('ttlSecondsAfterFinished'), 0),
  };
}

function readPlace(field: (name: string) => Field): Place {
  const awsRegion = field('awsRegion');
  return {
    tableName: text(field('tableName'), tableName),
    awsRegion: awsRegion.value === undefined ? DEFAULT_REGION : text(awsRegion, region),
    ...readEndpoint(field('endpointURL')),
  };
}

/** A value of the spec, and where it stands. */
interface Field {
  readonly path: string;
  readonly value: unknown;
}

interface TextRule {
  readonly pattern: RegExp;
  readonly expected: string;
}

const tableName: TextRule = {
  pattern: /^[a-zA-Z0-9_.-]{3,255}$/,
  expected: 'a table name of 3 to 255 letters, digits, "_", "." or "-"',
};
const partitionValue: TextRule = {
  pattern: /^.{1,4096}$/su,
  expected: 'a string of 1 to 4096 characters',
};
const region: TextRule = {
  pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  expected: 'the name of an AWS region such as us-east-1',
};
const endpoint: TextRule = {
  pattern:
    /^https?:\/\/([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\/[A-Za-z0-9._~-]+)*\/?$/,
  expected: 'a URL of the form http(s)://host[:port]',
};

/** An empty string counts as none, as in the manifests in use. */
function readEndpoint(field: Field): { readonly endpointURL?: string } {
  const { path, value } = field;
  if (value === undefined || value === '') return {};
  if (JSON.stringify(value).includes('@')) {
    throw new SpecProblem(`${path} must not hold credentials, expected ${endpoint.expected}`);
  }
  const endpointURL = text(field, endpoint);
  if (!URL.canParse(endpointURL)) throw unexpected(field, endpoint.expected);
  return { endpointURL };
}

function text(field: Field, { pattern, expected }: TextRule): string {
  const { value } = field;
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw unexpected(field, expected);
}

function flag(field: Field): boolean {
  const { value } = field;
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw unexpected(field, 'true or false');
}

function wholeNumber<Name extends keyof JobSpec>(
  name: Name,
  field: Field,
  minimum: number,
): { [K in Name]?: number } {
  const { value } = field;
  if (value === undefined) return {};
  if (Number.isSafeInteger(value) && Number(value) >= minimum) {
    return { [name]: value } as { [K in Name]: number };
  }
  throw unexpected(field, `a whole number of at least ${minimum}`);
}

function objectAt(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw unexpected({ path, value }, 'an object');
}

function unexpected({ path, value }: Field, expected: string): SpecProblem {
  const whole = value === undefined ? 'nothing' : JSON.stringify(value);
  // The API server would store half a character as another one, and the status would never be as we meant it.
  const shown = whole.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
  const rest = whole.length > MAX_SHOWN_CHARACTERS ? `… (${whole.length} characters)` : '';
  return new SpecProblem(`${path} must be ${expected}, got ${shown}${rest}`);
}
