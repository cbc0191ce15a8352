import { TerminalError } from '../../runtime/errors.ts';
import type { ReleaseRef } from '../../runtime/helm/release.ts';
import { fieldOf, isRecord } from '../../runtime/untrusted.ts';
import type { ChartLocation } from './chart-store.ts';
import { parseConfiguration, type Values } from './configuration.ts';
import type { Settings } from './settings.ts';
import type { Tenant } from './tenant-namespace.ts';

/** What a spec asks for, all of it checked. */
export interface CollectorSpec {
  readonly release: ReleaseRef;
  readonly chart: ChartLocation;
  readonly values: Values;
  readonly tenant: Tenant;
}

const DEVELOPMENT = 'development';
/** Development has one version of everything, the newest one. */
const DEVELOPMENT_VERSION = '0.0.1';
const MAX_RELEASE_NAME = 53;
const MAX_SHOWN_CHARACTERS = 200;

interface TextRule {
  readonly pattern: RegExp;
  readonly expected: string;
}

const chartName: TextRule = {
  pattern: /^[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?$/,
  expected: 'a name of 1 to 53 lower-case letters, digits or "-"',
};
/** SemVer 2.0.0, which has no room for "/" or "..". */
const version: TextRule = {
  pattern:
    /^(?=.{1,64}$)(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(\+[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?$/,
  expected: 'a semantic version such as 1.2.3',
};
/** It is not used there, so that it need not be a version; it need not be a path either. */
const unusedVersion: TextRule = {
  pattern: /^([\dA-Za-z][\w+.-]{0,63})?$/,
  expected: 'a version such as 1.2.3',
};
const dnsLabel: TextRule = {
  pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  expected: 'a name of 1 to 63 letters, digits or "-" (it becomes the namespace)',
};
const instance: TextRule = {
  pattern: /^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/,
  expected: 'a name of lower-case letters, digits or "-"',
};
const freeText: TextRule = { pattern: /^.{0,256}$/su, expected: 'a text of up to 256 characters' };

/**
 * Reads a spec, and throws a TerminalError that names field, value and what was expected. Every value that becomes part of a path
 * or of a name is matched as a whole first.
 */
export function readSpec(spec: unknown, settings: Settings): CollectorSpec {
  const { release, chart } = readPlace(spec, settings);
  if (!settings.mayUse(release.namespace)) {
    throw new TerminalError(
      'NamespaceNotAllowed',
      `spec.tenant.reference must be a namespace that collectors may use, got ${shown(release.namespace)}`,
    );
  }
  const id = fieldAt(spec, 'tenant', 'id');
  return {
    release,
    chart,
    values: parseConfiguration(fieldAt(spec, 'collector', 'configuration').value),
    tenant: {
      namespace: release.namespace,
      id: isNothing(id.value) ? undefined : text(id, freeText),
    },
  };
}

/** Which release from which chart; the part of a spec that says where things are. */
export function readPlace(
  spec: unknown,
  { buckets }: Pick<Settings, 'buckets'>,
): Pick<CollectorSpec, 'release' | 'chart'> {
  for (const part of ['collector', 'tenant']) {
    const value = fieldOf(spec, part);
    if (!isRecord(value)) throw unexpected({ path: `spec.${part}`, value }, 'an object');
  }
  const name = text(fieldAt(spec, 'collector', 'name'), chartName);
  const isDevelopment = fieldOf(spec, 'cluster') === DEVELOPMENT;
  return {
    release: { name: releaseName(name, spec), namespace: namespaceOf(spec) },
    chart: {
      bucket: isDevelopment ? buckets.development : buckets.production,
      key: `charts/${name}-${versionOf(spec, isDevelopment)}.tgz`,
    },
  };
}

function versionOf(spec: unknown, isDevelopment: boolean): string {
  const field = fieldAt(spec, 'collector', 'version');
  if (!isDevelopment) return text(field, version);
  if (!isNothing(field.value)) text(field, unusedVersion);
  return DEVELOPMENT_VERSION;
}

function releaseName(name: string, spec: unknown): string {
  const field = fieldAt(spec, 'tenant', 'instance');
  const release = `${name}-${text(field, instance)}`;
  if (release.length <= MAX_RELEASE_NAME) return release;
  throw unexpected(
    field,
    `shorter: <spec.collector.name>-<spec.tenant.instance> is the release's name and has at most ${MAX_RELEASE_NAME} characters, here ${release.length}`,
  );
}

function namespaceOf(spec: unknown): string {
  const field = fieldAt(spec, 'tenant', 'reference');
  const { value } = field;
  // In the manifests in use it often has capital letters.
  const lower = typeof value === 'string' ? value.toLowerCase() : '';
  if (dnsLabel.pattern.test(lower)) return lower;
  throw unexpected(field, dnsLabel.expected);
}

/** A value of the spec, and where it stands. */
interface Field {
  readonly path: string;
  readonly value: unknown;
}

const fieldAt = (spec: unknown, part: string, name: string): Field => ({
  path: `spec.${part}.${name}`,
  value: fieldOf(fieldOf(spec, part), name),
});

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '';

function text(field: Field, { pattern, expected }: TextRule): string {
  const { value } = field;
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw unexpected(field, expected);
}

const unexpected = ({ path, value }: Field, expected: string): TerminalError =>
  new TerminalError('InvalidSpec', `${path} must be ${expected}, got ${shown(value)}`);

/** Cut, and whole characters only: the API server would store half a one as another. */
function shown(value: unknown): string {
  const whole = value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing');
  const rest = whole.length > MAX_SHOWN_CHARACTERS ? `… (${whole.length} characters)` : '';
  return `${whole.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}${rest}`;
}
