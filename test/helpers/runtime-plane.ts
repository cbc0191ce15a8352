import { type ControlPlane, startControlPlane } from '../../local/control-plane/index.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { groupOf, rbacManifests } from '../../runtime/kube/rbac.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import type { KubeConnection } from '../../runtime/kube/transport.ts';
import type { Operator } from '../../runtime/operator.ts';
import { createWidgets, installWidgets } from './runtime-widget.ts';
import { until } from './until.ts';

/** A real API server that serves Widgets, with the operator's own identity and no more rights than it declares. */
export async function startWidgetPlane(operator: Operator) {
  const user = `podless-${operator.name}`;
  const users = [
    { name: user, groups: [groupOf(operator.name)] },
    { name: 'stranger', groups: [] },
  ];
  const plane = await startControlPlane({ users });
  const admin = createKubeClient(connectionOf(plane, 'admin'));
  await installWidgets(admin);
  await applyRbac(admin, operator);
  const kube = createKubeClient(connectionOf(plane, user));
  const rights = () => kube.get({ kind: operator.kind, namespace: 'default', name: 'nobody' });
  await until(
    () =>
      rights().then(
        () => true as const,
        () => undefined,
      ),
    {
      seconds: 30,
      what: async () => 'RBAC to take effect',
    },
  );
  return {
    admin,
    kube,
    widgets: createWidgets(admin),
    connectionOf: (name: string) => connectionOf(plane, name),
    stop: () => plane.stop(),
  };
}

export type WidgetPlane = Awaited<ReturnType<typeof startWidgetPlane>>;

export const connectionOf = (plane: ControlPlane, user: string): KubeConnection => ({
  server: plane.server,
  ca: plane.ca,
  token: async () => plane.token(user),
});

async function applyRbac(admin: KubeClient, operator: Operator): Promise<void> {
  for (const manifest of rbacManifests([operator]) as readonly RbacManifest[]) {
    const { kind, metadata } = manifest;
    const plural = `${kind.toLowerCase()}s`;
    await admin.apply(
      {
        kind: { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural },
        namespace: '',
        name: metadata.name,
      },
      manifest,
      { fieldManager: 'test' },
    );
  }
}

interface RbacManifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}
