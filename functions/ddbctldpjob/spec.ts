import type { DdbctlDpJob } from './generated/ddbctldpjob.ts';

export type JobStatus = Omit<
  NonNullable<DdbctlDpJob['status']>,
  'conditions' | 'observedGeneration' | 'lastHandledReconcileAt'
>;

/** What is to be done; another target is another job. */
export type Target = NonNullable<JobStatus['target']>;

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

class SpecProblem extends Error {}

function readSpec(spec: unknown): JobSpec {
  const flat = objectAt(spec, 'spec');
  const nested = flat['ddbCtlDpJob'];
  const clashing = TARGET_FIELDS.filter((field) => flat[field] !== undefined);
  if (nested !== undefined && clashing.length > 0) {
    throw new SpecProblem(
      `spec.ddbCtlDpJob and spec.${clashing[0]} exclude each other: use one of the two shapes`,
    );
  }
  const path = nested === undefined ? 'spec' : 'spec.ddbCtlDpJob';
  // Options may stand in either place; where the partition stands comes first.
  const fields = nested === undefined ? flat : { ...flat, ...objectAt(nested, path) };
  const endpointURL = readEndpoint(fields['endpointURL'], path);
  return {
    target: {
      tableName: matching(fields['tableName'], `${path}.tableName`, tableName),
      partitionValue: matching(fields['partitionValue'], `${path}.partitionValue`, partitionValue),
      awsRegion: matching(fields['awsRegion'] ?? DEFAULT_REGION, `${path}.awsRegion`, region),
      ...(endpointURL !== undefined && { endpointURL }),
      dryRun: flag(fields['dryRun'], `${path}.dryRun`),
    },
    suspend: flag(fields['suspend'], `${path}.suspend`),
    ...wholeNumber(fields, 'maxItems', 0),
    ...wholeNumber(fields, 'maxWriteUnitsPerSecond', 1),
    ...wholeNumber(fields, 'ttlSecondsAfterFinished', 0),
  };
}

interface TextRule {
  readonly pattern: RegExp;
  readonly expected: string;
}

const tableName: TextRule = {
  pattern: /^[a-zA-Z0-9_.-]{3,255}$/,
  expected: 'a table name of 3 to 255 letters, digits, "_", "." or "-"',
};
const partitionValue: TextRule = { pattern: /^.{1,4096}$/s, expected: 'a non-empty string' };
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
function readEndpoint(value: unknown, path: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  const field = `${path}.endpointURL`;
  if (typeof value === 'string' && value.includes('@')) {
    throw new SpecProblem(`${field} must not hold credentials, expected ${endpoint.expected}`);
  }
  const text = matching(value, field, endpoint);
  if (!URL.canParse(text)) throw new SpecProblem(describe(field, endpoint.expected, value));
  return text;
}

function matching(value: unknown, field: string, { pattern, expected }: TextRule): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new SpecProblem(describe(field, expected, value));
}

function flag(value: unknown, field: string): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new SpecProblem(describe(field, 'true or false', value));
}

function wholeNumber<Name extends keyof JobSpec>(
  fields: Fields,
  name: Name,
  minimum: number,
): { [K in Name]?: number } {
  const value = fields[name];
  if (value === undefined) return {};
  if (Number.isSafeInteger(value) && Number(value) >= minimum) {
    return { [name]: value } as { [K in Name]: number };
  }
  throw new SpecProblem(describe(`spec.${name}`, `a whole number of at least ${minimum}`, value));
}

function objectAt(value: unknown, field: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new SpecProblem(describe(field, 'an object', value));
}

function describe(field: string, expected: string, value: unknown): string {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value);
  return `${field} must be ${expected}, got ${shown.slice(0, MAX_SHOWN_CHARACTERS)}`;
}
