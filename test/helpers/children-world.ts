import { startControlPlane } from '../../local/control-plane/index.ts';
import { type Child, manifestOf } from '../../runtime/children/child.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject, ObjectRef } from '../../runtime/kube/objects.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import { createLog } from '../../runtime/log.ts';
import type { Kind } from '../../runtime/operator.ts';
import type { ReconcileContext } from '../../runtime/reconcile.ts';
import { isWrite, readAudit } from './runtime-audit.ts';
import { connectionOf } from './runtime-plane.ts';
import { configMapKind, createWidgets, installWidgets } from './runtime-widget.ts';

export const deploymentKind: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
};
export const secretKind: Kind = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' };
export const serviceKind: Kind = { group: '', version: 'v1', kind: 'Service', plural: 'services' };

export const OPERATOR = 'widget';
const user = `podless-${OPERATOR}`;

/** A real API server with Widgets, whose operator makes children; every request of it is in the audit log. */
export async function startChildrenWorld() {
  // What an operator may do is another test's matter.
  const users = [{ name: user, groups: ['system:masters'] }];
  const plane = await startControlPlane({ users, auditLog: true });
  const admin = createKubeClient(connectionOf(plane, 'admin'));
  await installWidgets(admin);
  const kube = createKubeClient(connectionOf(plane, user));
  const writes = async () => (await readAudit(plane.auditLogFile)).filter(isWrite);
  return {
    admin,
    kube,
    widgets: createWidgets(admin),
    /** Writing requests of the operator while `work` runs, dry runs left out: `patch deployments/web`. */
    writesDuring: async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      const before = (await writes()).length;
      await work();
      return (await writes())
        .slice(before)
        .filter(({ requestURI }) => !requestURI.includes('dryRun=All'))
        .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}/${objectRef?.name}`);
    },
    context: (over: Partial<ReconcileContext> = {}) => contextOf(kube, over),
    stop: () => plane.stop(),
  };
}

export type ChildrenWorld = Awaited<ReturnType<typeof startChildrenWorld>>;

const contextOf = (kube: KubeClient, over: Partial<ReconcileContext>): ReconcileContext => ({
  log: createLog(() => {}),
  clock: systemClock,
  cluster: 'main',
  kube,
  fieldManager: user,
  announce: async () => undefined,
  signal: new AbortController().signal,
  deadline: systemClock.now() + 60_000,
  windUpMilliseconds: 1000,
  runId: 'run-1',
  dryRun: false,
  isStillThere: async () => true,
  checkpoint: async () => ({ goOn: true }),
  ...over,
});

export const childOf = (object: KubeObject, child: Child) =>
  manifestOf(child, { object, operator: OPERATOR });

export const refTo = (kind: Kind, name: string): ObjectRef => ({
  kind,
  namespace: 'default',
  name,
});

export const configMapChild = (name: string, data: Readonly<Record<string, string>>): Child => ({
  kind: configMapKind,
  name,
  content: { data },
});

/** With fields that the API server stores in other words than ours. */
export const deploymentChild = (name: string, replicas = 2): Child => ({
  kind: deploymentKind,
  name,
  labels: { app: name },
  annotations: { 'example.com/team': 'blue' },
  content: {
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations: {} },
        spec: {
          hostNetwork: false,
          nodeSelector: {},
          volumes: [{ name: 'scratch', emptyDir: {} }],
          containers: [
            {
              name: 'app',
              image: 'busybox:latest',
              command: ['sh', '-c', 'sleep 1000'],
              env: [
                { name: 'COLOUR', value: 'green' },
                { name: 'EMPTY', value: '' },
              ],
              ports: [{ containerPort: 80 }],
              volumeMounts: [{ name: 'scratch', mountPath: '/scratch', readOnly: false }],
              resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5 } },
            },
          ],
        },
      },
    },
  },
});
