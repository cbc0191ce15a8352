import {
  type ChartKind,
  ownedChartKinds,
  releaseRecordRule,
  usualChartKinds,
} from '../../runtime/helm/chart-kinds.ts';
import type { Operator } from '../../runtime/operator.ts';
import { watches } from './generated/watches.ts';
import type { Watch } from './watch.ts';

/** What the chart of a watch may hold. */
export const chartKindsOf = ({ kinds, extraKinds = [] }: Watch): readonly ChartKind[] => [
  ...usualChartKinds.filter(({ kind }) => kinds?.includes(kind) ?? true),
  ...extraKinds,
];

/** An operator out of a chart: one release for each object, its values are the object's spec. */
export function operatorOf(watch: Watch): Operator {
  const { group, version, kind, plural } = watch;
  const name = kind.toLowerCase();
  return {
    name,
    code: 'helm',
    kind: { group, version, kind, plural },
    ...(watch.selector && { selector: watch.selector }),
    finalizer: 'helm.sdk.operatorframework.io/uninstall-release',
    owns: ownedChartKinds(name, chartKindsOf(watch)),
    resyncSeconds: 600,
    timeoutSeconds: 300,
    memoryMegabytes: 1024,
    maxConcurrency: 5,
    maxReceives: 5,
    rbac: [releaseRecordRule],
    iam: [],
    tools: ['helm'],
  };
}

export const helmOperators: readonly Operator[] = watches.map(operatorOf);
