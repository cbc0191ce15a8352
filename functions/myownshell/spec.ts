import type { KubeObject } from '../../runtime/kube/objects.ts';
import { fieldOf } from '../../runtime/untrusted.ts';

export interface ShellSpec {
  readonly size: number;
}

export type ParsedSpec =
  | { readonly ok: true; readonly value: ShellSpec }
  | { readonly ok: false; readonly problem: string };

const MAX_SIZE = 10_000;
/** The name is also the value of a label. */
const MAX_NAME_LENGTH = 63;
const MAX_SHOWN_CHARACTERS = 200;

/** The CRD refuses a bad size at admission; an object that was stored before it had its rules comes to this. */
export function parseSpec({ metadata: { name }, spec }: KubeObject): ParsedSpec {
  if (name.length > MAX_NAME_LENGTH) {
    const problem = `metadata.name must have at most ${MAX_NAME_LENGTH} characters, since it is the value of the label myownshell_cr, got ${name.length}`;
    return { ok: false, problem };
  }
  const size = fieldOf(spec, 'size');
  if (typeof size === 'number' && Number.isInteger(size) && size >= 0 && size <= MAX_SIZE) {
    return { ok: true, value: { size } };
  }
  const problem = `spec.size must be a whole number from 0 to ${MAX_SIZE}, got ${shown(size)}`;
  return { ok: false, problem };
}

const shown = (value: unknown): string =>
  value === undefined
    ? 'nothing'
    : JSON.stringify(value).slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
