import { type ChildManifest, manifestOf } from '../../runtime/children/child.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { ReconcileContext } from '../../runtime/reconcile.ts';
import { nodeWorkersName } from './names.ts';
import { daemonSetKind, goop } from './operator.ts';
import type { GoopSpec } from './spec.ts';
import { apart, labelsOf, pausing, printing } from './work.ts';

const nodeName = { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } };

/** A worker on each node: the work is done before the pod is ready, and the pod then stays to show it. */
export function nodeWorkers(object: KubeObject, { foo }: GoopSpec): ChildManifest {
  const name = nodeWorkersName(object.metadata.name);
  const labels = labelsOf(object.metadata.name);
  const spec = {
    selector: { matchLabels: labels },
    // Nobody depends on the pods: all may be replaced at once.
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    template: {
      metadata: { labels },
      spec: {
        ...apart,
        // Whoever pauses as the first process of a container does not hear that it is to end.
        terminationGracePeriodSeconds: 1,
        initContainers: [{ ...printing('worker on $(NODE_NAME)', foo), env: [nodeName] }],
        containers: [pausing],
      },
    },
  };
  return manifestOf(
    { kind: daemonSetKind, name, labels, content: { spec } },
    { object, operator: goop.name },
  );
}

/** The DaemonSet of that name, whoever it belongs to: none, or one. */
export async function readNodeWorkers(
  { metadata }: KubeObject,
  { kube, signal }: ReconcileContext,
): Promise<readonly KubeObject[]> {
  const { namespace, name } = metadata;
  const ref = { kind: daemonSetKind, namespace, name: nodeWorkersName(name) };
  const live = await kube.get(ref, signal);
  return live ? [live] : [];
}
