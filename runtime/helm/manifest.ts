import { describeRef, digestOf } from '../children/child.ts';
import { TerminalError } from '../errors.ts';
import type { ObjectRef } from '../kube/objects.ts';
import { fieldOf, isRecord, textOf } from '../untrusted.ts';
import type { ChartKind } from './chart-kinds.ts';
import { parseManifest, parseStored } from './manifest-yaml.ts';

/** An object of a release's manifest. */
export interface ReleaseObject {
  readonly ref: ObjectRef;
  /** As it is applied, apiVersion and kind included. */
  readonly body: ManifestBody;
}

export interface ManifestBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
  readonly [field: string]: unknown;
}

export interface ManifestMetadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface ManifestRules {
  readonly namespace: string;
  readonly allowed: readonly ChartKind[];
}

/**
 * The objects of a manifest, each checked: of an allowed kind, in the namespace of the release, with a name of its own. The
 * first that is not throws `ForbiddenObject`, which names it.
 */
export function readManifest(text: string, rules: ManifestRules): readonly ReleaseObject[] {
  const objects = parseManifest(text)
    .flatMap(({ source, value }) => flattened(value).map((item) => ({ source, value: item })))
    .map(({ source, value }) => withoutForeignMetadata(checkedObject(value, source, rules)));
  refuseTwins(objects);
  return objects;
}

/** The objects of a manifest that was applied: those that are no longer allowed are not ours to look at. */
export const readStoredManifest = (text: string, rules: ManifestRules): readonly ReleaseObject[] =>
  parseStored(text).flatMap(({ source, value }) => {
    try {
      return [checkedObject(value, source, rules)];
    } catch {
      return [];
    }
  });

/** The same for a manifest and for what Helm has stored of it, in whatever order. */
export const manifestDigest = (bodies: readonly unknown[]): string =>
  digestOf(bodies.map(digestOf).toSorted());

export const storedManifestDigest = (text: string): string =>
  manifestDigest(parseStored(text).map(({ value }) => value));

/** A List of one kind (`ConfigMapList`) is none that charts hold; it is refused as an unknown kind. */
const flattened = (value: unknown): readonly unknown[] => {
  const items = fieldOf(value, 'items');
  const isList = textOf(value, 'kind') === 'List' && textOf(value, 'apiVersion') === 'v1';
  return isList && Array.isArray(items) ? items : [value];
};

function checkedObject(value: unknown, source: string, rules: ManifestRules): ReleaseObject {
  const [apiVersion, kind] = [textOf(value, 'apiVersion'), textOf(value, 'kind')];
  const metadata = fieldOf(value, 'metadata');
  const name = fieldOf(metadata, 'name');
  const title = `${kind ?? 'an object'} ${typeof name === 'string' ? name.slice(0, 253) : ''} of ${source}`;
  const refuse = (why: string): never => {
    throw new TerminalError('ForbiddenObject', `${title} ${why}; nothing was applied`);
  };
  if (!isRecord(value) || !isRecord(metadata) || apiVersion === undefined || kind === undefined)
    return refuse('has no apiVersion, kind and metadata');
  if (typeof name !== 'string' || !isName(name)) return refuse('has no valid metadata.name');
  const known = kindOf(apiVersion, kind, rules.allowed);
  if (!known) return refuse(`is a ${apiVersion} ${kind}, which this chart may not hold`);
  const namespace = known.scope === 'Cluster' ? '' : rules.namespace;
  const given = fieldOf(metadata, 'namespace');
  if (given !== undefined && given !== null && given !== '' && given !== namespace)
    return refuse(`is in namespace ${JSON.stringify(given)}, which must be ${rules.namespace}`);
  if (kind === 'Secret' && isReleaseRecord(value, name))
    return refuse('is a record of a Helm release, which only Helm may write');
  for (const field of ['labels', 'annotations']) {
    const map = fieldOf(metadata, field) ?? {};
    if (!isRecord(map)) return refuse(`has metadata.${field} that are not a map`);
  }
  const { scope: _scope, ...rest } = known;
  return {
    ref: { kind: rest, namespace, name },
    body: {
      ...withoutStatus(value),
      apiVersion,
      kind,
      metadata: { ...metadata, name, ...(namespace !== '' && { namespace }) },
    },
  };
}

/** Which is for the controllers of the object to write. */
function withoutStatus(
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { status: _status, ...rest } = value;
  return rest;
}

/** Run by Helm at a step of a release, and no part of it afterwards. */
export const isHook = ({ body }: ReleaseObject): boolean =>
  body.metadata.annotations?.['helm.sh/hook'] !== undefined;

/** By group and name; versions of one group are views of the same objects. */
function kindOf(
  apiVersion: string,
  kind: string,
  allowed: readonly ChartKind[],
): ChartKind | undefined {
  const [, group = '', version] = /^(?:([\da-z.-]+)\/)?(v[\da-z]+)$/.exec(apiVersion) ?? [];
  const found = allowed.find((one) => one.group === group && one.kind === kind);
  return found && version !== undefined ? { ...found, version } : undefined;
}

/** Kubernetes' own rule for what can be a part of a path. */
const isName = (name: string): boolean =>
  /^[^/%\p{Cc}\s]{1,253}$/u.test(name) && name !== '.' && name !== '..';

/** A chart with these could forge releases, ours and others'. */
const isReleaseRecord = (secret: unknown, name: string): boolean =>
  textOf(secret, 'type')?.startsWith('helm.sh/') === true || name.startsWith('sh.helm.release.');

/** What the API server sets, or what says whose it is, is not the chart's to say. */
const notTheCharts: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generateName',
  'generation',
  'managedFields',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);

function withoutForeignMetadata({ ref, body }: ReleaseObject): ReleaseObject {
  const kept = Object.entries(body.metadata).filter(([field]) => !notTheCharts.has(field));
  return { ref, body: { ...body, metadata: { ...Object.fromEntries(kept), name: ref.name } } };
}

/** Each would undo the other for ever. */
function refuseTwins(objects: readonly ReleaseObject[]): void {
  const seen = new Set<string>();
  // Hooks run one after the other, and may share a name.
  for (const { ref } of objects.filter((object) => !isHook(object))) {
    const key = keyOf(ref);
    if (seen.has(key)) {
      const message = `the chart has ${describeRef(ref)} twice; nothing was applied`;
      throw new TerminalError('ForbiddenObject', message);
    }
    seen.add(key);
  }
}

export const keyOf = ({ kind, namespace, name }: ObjectRef): string =>
  `${kind.group}/${kind.kind}/${namespace}/${name}`;
