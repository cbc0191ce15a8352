import type { Owner } from '../../runtime/children/child.ts';
import { usualChartKinds } from '../../runtime/helm/chart-kinds.ts';
import type { WantedRelease } from '../../runtime/helm/release.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { OpenedChart } from './chart-source.ts';
import { collector } from './operator.ts';
import type { CollectorSpec } from './spec.ts';
import { statusOf } from './status.ts';

export const ownerOf = (object: KubeObject): Owner => ({ object, operator: collector.name });

/** The release that a spec asks for, as the engine takes it. */
export function wantedRelease(
  { release, values }: CollectorSpec,
  { folder, digest }: OpenedChart,
  object: KubeObject,
): WantedRelease {
  const { failedAttempts } = statusOf(object);
  return {
    ...release,
    chart: { folder, digest },
    values,
    allowed: usualChartKinds,
    owner: ownerOf(object),
    ...(failedAttempts && { attempts: failedAttempts }),
  };
}
