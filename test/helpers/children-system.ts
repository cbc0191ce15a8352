import { type SystemOptions, startSystem } from '../../local/system.ts';
import { systemClock } from '../../runtime/clock.ts';
import { isKubeStatus, type KubeClient } from '../../runtime/kube/client.ts';
import type { Condition, KubeObject, ObjectRef } from '../../runtime/kube/objects.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import { createLog, type LogLine } from '../../runtime/log.ts';
import type { Kind, Operator } from '../../runtime/operator.ts';
import type { PlannedChange, ReconcileContext, Reconciler } from '../../runtime/reconcile.ts';
import { isWrite, readAudit, rightUsed } from './runtime-audit.ts';
import { until } from './until.ts';

export const deploymentKind: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
};
export const daemonSetKind: Kind = { ...deploymentKind, kind: 'DaemonSet', plural: 'daemonsets' };
export const configMapKind: Kind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
};
export const podKind: Kind = { ...configMapKind, kind: 'Pod', plural: 'pods' };
export const nodeKind: Kind = { ...configMapKind, kind: 'Node', plural: 'nodes' };
export const jobKind: Kind = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs' };
const eventKind: Kind = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' };

const namespace = 'default';
const NODE = 'node-1';

/** Tests look deep into objects of many kinds. A wrong path there is a failed test, so no type guards them. */
type Anything = ReturnType<typeof JSON.parse>;

export type Any = KubeObject<Anything, Anything>;

interface Told {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
}

/** Podless with controllers, a scheduler and nodes, and short words for what tests of an operator with children do with it. */
export async function startChildrenSystem(operator: Operator, options: SystemOptions = {}) {
  const lines: LogLine[] = [];
  const onLog = (_source: string, line: LogLine) => lines.push(line);
  const system = await startSystem({ workloads: true, auditLog: true, ...options, onLog });
  const { admin } = system;
  const refOf = (kind: Kind, name: string): ObjectRef => ({ kind, namespace, name });
  const ref = (name: string) => refOf(operator.kind, name);
  const find = async (kind: Kind, name: string) =>
    (await admin.get(refOf(kind, name))) as Any | undefined;
  const get = (name: string) => find(operator.kind, name);
  const conditionOf = async (name: string, type = 'Ready'): Promise<Condition | undefined> =>
    (await get(name))?.status?.conditions?.find((one: Condition) => one.type === type);

  /** Resolves with the object as soon as it is so. */
  const reaches = (kind: Kind, name: string, is: (object: Any) => boolean, seconds = 60) =>
    until(
      async () => {
        const object = await find(kind, name);
        return object && is(object) ? object : undefined;
      },
      {
        seconds,
        what: async () => `${kind.kind} ${name}, which is ${shown(await find(kind, name))}`,
      },
    );
  const list = async (kind: Kind, labelSelector?: string): Promise<readonly Any[]> => {
    const { items } = await admin.list(kind, {
      namespace: kind === nodeKind ? '' : namespace,
      limit: 5_000,
      ...(labelSelector !== undefined && { labelSelector }),
    });
    return items as readonly Any[];
  };

  /** Writes of the operator so far, as `patch apps/deployments`. */
  const writes = async (): Promise<readonly string[]> =>
    (await readAudit(system.cluster.auditLogFile))
      .filter((entry) => entry.user.username === `podless-${operator.name}` && isWrite(entry))
      .filter(({ requestURI }) => !requestURI.includes('dryRun=All'))
      .map((entry) => `${rightUsed(entry)} ${entry.objectRef?.name ?? ''}`);

  return {
    ...system,
    lines,
    refOf,
    find,
    get,
    list,
    reaches,
    conditionOf,
    create: (name: string, spec: unknown, metadata: object = {}) =>
      admin.create(operator.kind, namespace, {
        metadata: { name, ...metadata },
        ...(spec !== undefined && { spec }),
      }) as Promise<Any>,
    /** What the API server says to it, or '' if it takes it. */
    refusal: (name: string, spec: unknown): Promise<string> =>
      admin.create(operator.kind, namespace, { metadata: { name }, spec }).then(
        () => '',
        (error: unknown) => {
          if (isKubeStatus(error, 422)) return error.message;
          throw error;
        },
      ),
    /** Merge patch. */
    patch: (name: string, body: object) => admin.mergePatch(ref(name), body) as Promise<Any>,
    patchChild: (kind: Kind, name: string, body: object) =>
      admin.mergePatch(refOf(kind, name), body) as Promise<Any>,
    remove: (kind: Kind, name: string) =>
      admin.delete(refOf(kind, name), { propagationPolicy: 'Background' }),
    delete: (name: string) => admin.delete(ref(name), {}),
    reachesCondition: async (
      name: string,
      is: (condition: Condition) => boolean,
      type = 'Ready',
      seconds = 60,
    ): Promise<Condition> => {
      const reached = await reaches(
        operator.kind,
        name,
        ({ status }) =>
          status?.conditions?.some((one: Condition) => one.type === type && is(one)) ?? false,
        seconds,
      );
      const condition = reached.status?.conditions?.find((one: Condition) => one.type === type);
      if (!condition) throw new Error(`${name} must have a condition ${type}`);
      return condition;
    },
    isGone: (kind: Kind, name: string, seconds = 60) =>
      until(async () => ((await find(kind, name)) === undefined ? true : undefined), {
        seconds,
        what: async () => `${kind.kind} ${name} to go, which is ${shown(await find(kind, name))}`,
      }),
    /** As `aws lambda invoke` does. */
    byHand: async (name: string, more: object = {}): Promise<Anything> => {
      const path = `/2015-03-31/functions/podless-${operator.name}/invocations`;
      const body = JSON.stringify({ namespace, name, ...more });
      const response = await fetch(system.lambda + path, { method: 'POST', body });
      return response.json();
    },
    /** What a dry run says, also of an object that is paused so that nobody else acts on it. */
    planOf: async (reconciler: Reconciler, name: string): Promise<readonly PlannedChange[]> => {
      const object = await get(name);
      if (!object) throw new Error(`there must be a ${operator.kind.kind} ${name}`);
      const kube = createKubeClient(system.cluster.connectionOf(operator.name));
      const context = dryRunContext(kube, `podless-${operator.name}`);
      return (await reconciler.reconcile(object, context)).plan ?? [];
    },
    eventsOf: async (name: string): Promise<readonly Told[]> => {
      const { items } = await admin.list(eventKind, { limit: 5_000 });
      return (items as Told[]).filter(({ regarding }) => regarding.name === name);
    },
    writes,
    /** Resolves once the operator has written nothing for a while: Events come after the status that they tell of. */
    isQuiet: () =>
      until(
        async () => {
          const before = (await writes()).length;
          await systemClock.sleep(1_000);
          return (await writes()).length === before ? true : undefined;
        },
        { seconds: 60, what: async () => `no more writes after ${(await writes()).at(-1)}` },
      ),
    /** Rights that the operator has used so far. An apply that makes an object is a patch that asks for create as well. */
    rightsUsed: async (): Promise<ReadonlySet<string>> =>
      new Set(
        (await readAudit(system.cluster.auditLogFile))
          .filter(({ user }) => user.username === `podless-${operator.name}`)
          .flatMap((entry) => {
            const made = entry.verb === 'patch' && entry.responseStatus?.code === 201;
            return [entry, ...(made ? [{ ...entry, verb: 'create' }] : [])].map(rightUsed);
          }),
      ),
    addNode: (name: string) =>
      admin.create(nodeKind, '', {
        metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
      }),
    removeNode: (name: string) => admin.delete({ kind: nodeKind, namespace: '', name }, {}),
    /** Whether new pods may come to a node. */
    cordon: (unschedulable: boolean, name = NODE) =>
      admin.mergePatch({ kind: nodeKind, namespace: '', name }, { spec: { unschedulable } }),
    /** What happens to the pods of a node that is gone, without the wait. */
    evict: (name: string) =>
      admin.mergePatch(
        { kind: nodeKind, namespace: '', name },
        { spec: { taints: [{ key: 'test', effect: 'NoExecute' }] } },
      ),
  };
}

export type ChildrenSystem = Awaited<ReturnType<typeof startChildrenSystem>>;

const shown = (object: Any | undefined): string =>
  JSON.stringify(object && { ...object, metadata: { ...object.metadata, managedFields: '…' } });

const dryRunContext = (kube: KubeClient, fieldManager: string): ReconcileContext => ({
  log: createLog(() => {}),
  clock: systemClock,
  cluster: 'local',
  kube,
  fieldManager,
  announce: async () => undefined,
  signal: AbortSignal.timeout(30_000),
  deadline: systemClock.now() + 60_000,
  windUpMilliseconds: 1_000,
  runId: 'dry-run',
  dryRun: true,
  isStillThere: async () => true,
  checkpoint: async () => ({ goOn: true }),
});
