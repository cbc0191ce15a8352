import type { Hint } from './hint.ts';
import { apiVersionOf, type Operator } from './operator.ts';
import { type Preview, readPreview } from './preview.ts';
import { isRecord } from './untrusted.ts';

/** One object to reconcile, from whichever door it came in. */
export interface ReconcileRequest {
  /** Undefined: the platform's first. */
  readonly cluster?: string;
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly dryRun: boolean;
  readonly hops: number;
  /** Default: nothing is known beforehand. */
  readonly preview?: Preview;
}

/** A payload that is not a request. The caller's mistake: answered, never retried. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
}

/** The payload of `aws lambda invoke`. */
export function parseByHand(payload: unknown): ReconcileRequest {
  if (!isRecord(payload)) throw invalid('payload', 'an object', payload);
  const { cluster, namespace = 'default', name, dryRun = false } = payload;
  if (!isObjectName(name)) throw invalid('name', 'the name of an object', name);
  if (!isObjectName(namespace)) throw invalid('namespace', 'the name of a namespace', namespace);
  if (typeof dryRun !== 'boolean') throw invalid('dryRun', 'true or false', dryRun);
  if (cluster !== undefined && !isNonEmptyString(cluster)) {
    throw invalid('cluster', 'a non-empty string', cluster);
  }
  const request = { namespace, name, dryRun, reason: 'InvokedByHand', hops: 0 };
  return cluster === undefined ? request : { ...request, cluster };
}

/** A hint that came through the bus or a queue; it must be meant for `operator`. */
export function parseHint(payload: unknown, operator: Operator): ReconcileRequest {
  if (!isRecord(payload)) throw invalid('hint', 'an object', payload);
  const { cluster, apiVersion, kind, namespace, name, reason, hops, preview } =
    payload as Partial<Hint>;
  const expected = `${apiVersionOf(operator.kind)} ${operator.kind.kind}`;
  if (`${apiVersion} ${kind}` !== expected) {
    throw invalid('kind of the hint', expected, `${apiVersion} ${kind}`);
  }
  if (!isObjectName(name)) throw invalid('name', 'the name of an object', name);
  if (!isObjectName(namespace)) throw invalid('namespace', 'the name of a namespace', namespace);
  if (!isNonEmptyString(cluster)) throw invalid('cluster', 'a non-empty string', cluster);
  const known = hops !== undefined && Number.isSafeInteger(hops) && hops >= 0;
  const shared = { cluster, namespace, name, reason: String(reason), dryRun: false };
  return { ...shared, hops: known ? hops : 0, preview: readPreview(preview) };
}

const MAX_SHOWN_LENGTH = 300;
const EXAMPLE = '{"namespace":"default","name":"my-object"}';

const invalid = (field: string, expected: string, got: unknown): InvalidRequestError =>
  new InvalidRequestError(
    `${field} must be ${expected}, got ${shown(got)}; an example: ${EXAMPLE}`,
  );

const shown = (got: unknown): string =>
  (JSON.stringify(got) ?? 'nothing').slice(0, MAX_SHOWN_LENGTH);

/** Kubernetes' own rule. Anything else ("a/status", "..") would be another path of its API. */
const isObjectName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= 253 &&
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(value);

const isNonEmptyString = (value: unknown): value is string =>
  typeof value === 'string' && value !== '';
