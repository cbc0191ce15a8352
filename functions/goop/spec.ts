import { digestOf } from '../../runtime/children/child.ts';
import { isRecord } from '../../runtime/untrusted.ts';

export const modes = ['Jobs', 'DaemonSet'] as const;
export type Mode = (typeof modes)[number];

export interface GoopSpec {
  readonly mode: Mode;
  readonly foo: string;
  /** Not looked at in mode DaemonSet. */
  readonly jobCount: number;
  /** Of what each worker is to do: another digest means that they run again. How many there are is no part of it. */
  readonly workDigest: string;
}

export type ParsedSpec =
  | { readonly ok: true; readonly value: GoopSpec }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_JOB_COUNT = 1;
const MAX_JOB_COUNT = 1_000;
const MAX_FOO_LENGTH = 4_096;
const MAX_SHOWN_CHARACTERS = 200;

/** The CRD refuses all this at admission; an object that was stored before it had its rules comes to this. */
export function parseSpec(spec: unknown = {}): ParsedSpec {
  if (!isRecord(spec)) return problem('spec', 'an object', spec);
  const { foo = '', job_count: jobCount = DEFAULT_JOB_COUNT, mode = 'Jobs' } = spec;
  if (typeof foo !== 'string' || Array.from(foo).length > MAX_FOO_LENGTH || foo.includes('\0'))
    return problem('spec.foo', `a text of at most ${MAX_FOO_LENGTH} characters without NUL`, foo);
  if (!isCount(jobCount))
    return problem('spec.job_count', `a whole number from 0 to ${MAX_JOB_COUNT}`, jobCount);
  if (!isMode(mode)) return problem('spec.mode', `one of ${modes.join(', ')}`, mode);
  return { ok: true, value: { mode, foo, jobCount, workDigest: digestOf({ mode, foo }) } };
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_JOB_COUNT;

const isMode = (value: unknown): value is Mode => modes.some((mode) => mode === value);

function problem(path: string, expected: string, value: unknown): ParsedSpec {
  const shown = JSON.stringify(value).slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
  return { ok: false, problem: `${path} must be ${expected}, got ${shown}` };
}
