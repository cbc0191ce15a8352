import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, ObjectRef } from '../kube/objects.ts';
import type { Kind } from '../operator.ts';
import { fieldOf, isRecord, textOf } from '../untrusted.ts';
import type { ReleaseRef } from './release.ts';

const unzip = promisify(gunzip);

const secretKind: Kind = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' };
const PAGE_SIZE = 100;
/** Of a record when unpacked; Helm's own are smaller than this, as a Secret holds 1 MB. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** One revision of a release, as Helm keeps it in a Secret. */
export interface Revision {
  readonly version: number;
  /** `deployed`, `failed`, `pending-install` and so on. */
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  /** In milliseconds since the epoch. */
  readonly createdAt: number;
  readonly ref: ObjectRef;
  /** Packed; `recordOf` reads it. */
  readonly data: string;
}

/** What is in a revision. */
export interface ReleaseRecord {
  /** YAML of every object but the hooks. */
  readonly manifest: string;
  /** YAML of each hook. */
  readonly hooks: readonly string[];
}

/** The revisions that still matter, the newest first; with `superseded` also those that others took the place of. */
export async function readRevisions(
  { name, namespace }: ReleaseRef,
  kube: KubeClient,
  options: { readonly superseded?: boolean; readonly signal?: AbortSignal } = {},
): Promise<readonly Revision[]> {
  const { superseded = false, signal } = options;
  const selector = `owner=helm,name=${name}${superseded ? '' : ',status!=superseded'}`;
  const { items } = await kube.list(secretKind, {
    namespace,
    labelSelector: selector,
    // Helm is told to keep ten.
    limit: PAGE_SIZE,
    ...(signal && { signal }),
  });
  return items
    .flatMap((item) => revisionOf(item as KubeObject))
    .toSorted((one, other) => other.version - one.version);
}

function revisionOf(secret: KubeObject): readonly Revision[] {
  const { labels = {}, name, namespace, creationTimestamp } = secret.metadata;
  const version = Number(labels['version']);
  const data = textOf(fieldOf(secret, 'data'), 'release');
  if (!Number.isInteger(version) || data === undefined) return [];
  return [
    {
      version,
      status: labels['status'] ?? 'unknown',
      labels,
      createdAt: Date.parse(creationTimestamp ?? ''),
      ref: { kind: secretKind, namespace, name },
      data,
    },
  ];
}

const records = new WeakMap<Revision, Promise<ReleaseRecord | undefined>>();

/** Undefined if it cannot be read: somebody has written to it who is not Helm. */
export function recordOf(revision: Revision): Promise<ReleaseRecord | undefined> {
  const record = records.get(revision) ?? unpack(revision);
  records.set(revision, record);
  return record;
}

async function unpack({ data }: Revision): Promise<ReleaseRecord | undefined> {
  try {
    // Helm encodes it for text, and the API server once more for JSON.
    const packed = Buffer.from(Buffer.from(data, 'base64').toString('latin1'), 'base64');
    const text = await unzip(packed, { maxOutputLength: MAX_RECORD_BYTES });
    const record: unknown = JSON.parse(text.toString('utf8'));
    if (!isRecord(record)) return undefined;
    const hooks = fieldOf(record, 'hooks');
    return {
      manifest: textOf(record, 'manifest') ?? '',
      hooks: Array.isArray(hooks) ? hooks.flatMap((hook) => textOf(hook, 'manifest') ?? []) : [],
    };
  } catch {
    return undefined;
  }
}
