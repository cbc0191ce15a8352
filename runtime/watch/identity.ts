import type { LogFields } from '../log.ts';
import { fieldOf, textOf } from '../untrusted.ts';

/** The part of an object that a hint needs. */
export interface Identity {
  /** '' for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
}

const required = ['name', 'uid', 'resourceVersion'] as const;

/** `undefined` if the metadata cannot be read; then `describeUnreadable` tells the log what is known. */
export function readIdentity(object: unknown): Identity | undefined {
  const metadata = fieldOf(object, 'metadata');
  const [name, uid, resourceVersion] = required.map((field) => textOf(metadata, field));
  const namespace = fieldOf(metadata, 'namespace') ?? '';
  if (!name || !uid || !resourceVersion || typeof namespace !== 'string') return undefined;
  const generation = fieldOf(metadata, 'generation');
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    ...(typeof generation === 'number' && { generation }),
  };
}

export function describeUnreadable(object: unknown): LogFields {
  const metadata = fieldOf(object, 'metadata');
  return {
    namespace: textOf(metadata, 'namespace'),
    name: textOf(metadata, 'name'),
    missing: required.filter((field) => textOf(metadata, field) === undefined),
  };
}
