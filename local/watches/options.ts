import type { Watch } from '../../functions/helm/watch.ts';
import { type ChartKind, usualChartKinds } from '../../runtime/helm/chart-kinds.ts';
import type { Kind } from '../../runtime/operator.ts';
import { isRecord } from '../../runtime/untrusted.ts';
import { type Fields, type Refuse, refuseUnknownKeys, shown, textIn } from './fields.ts';
import { pluralOf } from './plural.ts';

type Options = Pick<Watch, 'overrideValues' | 'selector' | 'kinds' | 'extraKinds'>;

/** What an entry may have beside its kind and its chart. */
export function readOptions(entry: Fields, own: Kind, refuse: Refuse): Options {
  const overrideValues = readOverrideValues(entry['overrideValues'], refuse);
  const selector = readSelector(entry['selector'], refuse);
  const kinds = readKinds(entry['kinds'], refuse);
  const extraKinds = readExtraKinds(entry['extraKinds'], own, refuse);
  return {
    ...(overrideValues && { overrideValues }),
    ...(selector && { selector }),
    ...(kinds && { kinds }),
    ...(extraKinds && { extraKinds }),
  };
}

function readOverrideValues(value: unknown, refuse: Refuse): Options['overrideValues'] {
  if (value === undefined) return undefined;
  if (!isRecord(value)) {
    refuse(`overrideValues must be a map of paths to values, got ${shown(value)}`);
    return undefined;
  }
  const entries = Object.entries(value);
  for (const [path, override] of entries) {
    if (!/^[^\s.]+(\.[^\s.]+)*$/.test(path)) {
      refuse(`overrideValues must have paths such as image.tag, got ${shown(path)}`);
    }
    if (!isScalar(override)) {
      refuse(`overrideValues.${path} must be a text, number or boolean, got ${shown(override)}`);
    } else if (/\$\{?[A-Za-z_]/.test(String(override))) {
      refuse(
        `overrideValues.${path} must be the value itself, not a variable, got ${shown(override)}`,
      );
    }
  }
  return Object.fromEntries(
    entries.flatMap(([path, override]) => (isScalar(override) ? [[path, override]] : [])),
  );
}

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

function readSelector(value: unknown, refuse: Refuse): Options['selector'] {
  if (value === undefined) return undefined;
  const labels = isRecord(value) ? value['matchLabels'] : undefined;
  if (isRecord(value)) refuseUnknownKeys(value, ['matchLabels'], refuse, 'selector.');
  const texts = isRecord(labels) ? Object.entries(labels) : [];
  if (texts.length === 0 || !texts.every(isLabel)) {
    refuse(`selector.matchLabels must be a map of labels to texts, got ${shown(labels)}`);
    return undefined;
  }
  return { matchLabels: Object.fromEntries(texts.filter(isLabel)) };
}

const isLabel = (entry: [string, unknown]): entry is [string, string] =>
  /^([a-z0-9]([-.a-z0-9]*[a-z0-9])?\/)?[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/.test(
    entry[0],
  ) &&
  typeof entry[1] === 'string' &&
  /^([A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/.test(entry[1]);

function readKinds(value: unknown, refuse: Refuse): Options['kinds'] {
  if (value === undefined) return undefined;
  const usual = usualChartKinds.map(({ kind }) => kind);
  if (!Array.isArray(value)) {
    refuse(`kinds must be a list of kinds, got ${shown(value)}`);
    return undefined;
  }
  for (const kind of value.filter((one) => !usual.includes(one))) {
    refuse(`kinds must be of ${usual.join(', ')} (others go to extraKinds), got ${shown(kind)}`);
  }
  return [...new Set(value as readonly string[])];
}

function readExtraKinds(value: unknown, own: Kind, refuse: Refuse): Options['extraKinds'] {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) {
    return value.map((item, index) => readExtraKind(item, `extraKinds[${index}].`, own, refuse));
  }
  refuse(`extraKinds must be a list of maps, got ${shown(value)}`);
  return undefined;
}

function readExtraKind(item: unknown, at: string, own: Kind, refuse: Refuse): ChartKind {
  const fields = isRecord(item) ? item : {};
  if (fields !== item) refuse(`${at.slice(0, -1)} must be a map, got ${shown(item)}`);
  refuseUnknownKeys(fields, ['group', 'version', 'kind', 'plural', 'scope'], refuse, at);
  const text = textIn(fields, at, refuse);
  const group = text('group', /^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$/, 'a domain, or "" for core');
  const version = text('version', /^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'a version such as v1');
  const kind = text('kind', /^[A-Z][A-Za-z0-9]*$/, 'letters and digits, the first in upper case');
  const plural =
    fields['plural'] === undefined
      ? pluralOf(kind)
      : text('plural', /^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'lower-case letters, digits and dashes');
  const scope = text('scope', /^(Namespaced|Cluster)$/, 'Namespaced or Cluster');
  const known = [own, ...usualChartKinds].find((one) => one.group === group && one.kind === kind);
  if (known === own) refuse(`${at}kind must not be that of the entry itself, got ${kind}`);
  else if (known) refuse(`${at}kind must be another than the usual ones, got ${kind}`);
  return { group, version, kind, plural, scope: scope === 'Cluster' ? scope : 'Namespaced' };
}
