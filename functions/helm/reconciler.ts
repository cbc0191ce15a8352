import type { Owner } from '../../runtime/children/child.ts';
import type { Chart, HelmReleases, ReleaseRef } from '../../runtime/helm/release.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';
import { chartKindsOf, operatorOf } from './operator.ts';
import { applying, deployed, describeFailure, isFromOlderOperator, statusOf } from './status.ts';
import { valuesOf } from './values.ts';
import type { Watch } from './watch.ts';

/** What this operator needs from the world. */
export interface Ports {
  readonly releases: HelmReleases;
  openChart(): Promise<Chart>;
}

/** One release for each object, with its name and in its namespace. */
export function createReconciler(watch: Watch, { releases, openChart }: Ports): Reconciler {
  const operator = operatorOf(watch).name;
  const allowed = chartKindsOf(watch);
  const ownerOf = (object: KubeObject): Owner => ({ object, operator });
  return {
    describeFailure,
    reconcile: async (object, context) => {
      const values = valuesOf(object.spec, watch);
      const { failedAttempts } = statusOf(object);
      const report = await releases.reconcile(
        {
          ...releaseOf(object),
          chart: await openChart(),
          values,
          allowed,
          owner: ownerOf(object),
          onApply: (action) => context.checkpoint(applying(action, object)),
          ...(failedAttempts && { attempts: failedAttempts }),
        },
        context,
      );
      return deployed(report);
    },
    finalize: async (object, context) => {
      const plan = await releases.remove(releaseOf(object), ownerOf(object), context);
      return { status: object.status ?? {}, conditions: [], plan };
    },
  };
}

function releaseOf(object: KubeObject): ReleaseRef {
  const { name, namespace } = object.metadata;
  return { name, namespace, adopt: isFromOlderOperator(object, name) };
}
