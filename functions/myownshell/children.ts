import { type ChildManifest, manifestOf } from '../../runtime/children/child.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { configMapKind, deploymentKind, myownshell } from './operator.ts';
import type { ShellSpec } from './spec.ts';

const SCRIPT = 'echo The app is running, You can now ssh into for a while! && sleep 99999999';

/** The Deployment of the shells: every field that is ours, and no other. */
export function deploymentOf(object: KubeObject, { size }: ShellSpec): ChildManifest {
  const { name } = object.metadata;
  const labels = { app: 'myownshell', myownshell_cr: name };
  const container = { name: 'busybox', image: 'busybox:latest', command: ['sh', '-c', SCRIPT] };
  const spec = {
    replicas: size,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  };
  return manifestOf(
    { kind: deploymentKind, name, labels, content: { spec } },
    { object, operator: myownshell.name },
  );
}

/** Tells whoever mounts it how many shells there should be. */
export function configMapOf(object: KubeObject, { size }: ShellSpec): ChildManifest {
  const { name } = object.metadata;
  const labels = { app: 'myownshell', myownshell_cr: name };
  const content = { data: { replicas: String(size) } };
  return manifestOf(
    { kind: configMapKind, name, labels, content },
    { object, operator: myownshell.name },
  );
}
