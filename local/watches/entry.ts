import type { Watch } from '../../functions/helm/watch.ts';
import type { Kind } from '../../runtime/operator.ts';
import { isRecord } from '../../runtime/untrusted.ts';
import { chartProblem } from './chart-source.ts';
import { type Fields, type Refuse, refuseUnknownKeys, shown, textIn } from './fields.ts';
import { readOptions } from './options.ts';
import { pluralOf } from './plural.ts';

const keys = [
  'group',
  'version',
  'kind',
  'plural',
  'chart',
  'overrideValues',
  'selector',
  'kinds',
  'extraKinds',
  'watchDependentResources',
];

/** `undefined` if there was a problem, told by `tell`. */
export function readWatch(entry: unknown, root: string, tell: Refuse): Watch | undefined {
  let problems = 0;
  const refuse: Refuse = (problem) => {
    problems += 1;
    tell(problem);
  };
  if (!isRecord(entry)) {
    refuse(`must be a map with group, version, kind and chart, got ${shown(entry)}`);
    return undefined;
  }
  refuseUnknownKeys(entry, keys, refuse);
  if (entry['watchDependentResources'] === false) {
    refuse('watchDependentResources must be true: what a chart holds is always watched');
  }
  const kind = readKind(entry, refuse);
  const chart = readChart(entry['chart'], root, refuse);
  const watch = { ...kind, chart, ...readOptions(entry, kind, refuse) };
  return problems === 0 ? watch : undefined;
}

const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const label = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

function readKind(entry: Fields, refuse: Refuse): Kind {
  const text = textIn(entry, '', refuse);
  const group = text('group', domain, 'a domain such as charts.example.com');
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group)) {
    refuse(`group must not be one of Kubernetes itself, got ${shown(group)}`);
  }
  const version = text('version', label, 'a version such as v1alpha1');
  // It is the name of the function too.
  const kind = text(
    'kind',
    /^[A-Z][A-Za-z0-9]{0,39}$/,
    '1 to 40 letters and digits, the first in upper case',
  );
  const plural =
    entry['plural'] === undefined
      ? pluralOf(kind)
      : text('plural', label, 'lower-case letters, digits and dashes');
  return { group, version, kind, plural };
}

function readChart(chart: unknown, root: string, refuse: Refuse): string {
  const problem = chartProblem(chart, root);
  if (problem !== undefined) refuse(`chart ${problem}, got ${shown(chart)}`);
  return typeof chart === 'string' ? chart.replace(/\/+$/, '') : '';
}
