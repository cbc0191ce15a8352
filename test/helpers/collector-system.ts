import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { json } from 'node:stream/consumers';
import { collector } from '../../functions/collector/operator.ts';
import type { CollectorStatus } from '../../functions/collector/status.ts';
import type { SystemOptions } from '../../local/system.ts';
import type { CommonStatus, Condition, KubeObject } from '../../runtime/kube/objects.ts';
import type { Kind } from '../../runtime/operator.ts';
import { startTestS3 } from './collector-s3.ts';
import type { PrintedTable } from './job-system.ts';
import { startTestSystem } from './system.ts';
import { until } from './until.ts';

export type CollectorState = CollectorStatus & CommonStatus;
type Collector = KubeObject<CollectorSpec, CollectorStatus>;

interface CollectorSpec {
  readonly cluster?: string;
  readonly collector: object;
  readonly tenant: object;
}

export const kinds = {
  namespace: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces' },
  secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' },
  configMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  deployment: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' },
  event: { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' },
} as const satisfies Record<string, Kind>;

interface CollectorEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly eventTime: string;
  readonly regarding: { readonly name: string; readonly kind: string };
}

export const encoded = (yaml: string): string => Buffer.from(yaml).toString('base64');

/** A spec that installs the sample chart into the namespace of its own tenant. */
export const specFor = (tenant: string, yaml = '', changes: object = {}): CollectorSpec => ({
  cluster: 'production',
  collector: {
    name: 'collector-sample',
    version: '1.0.0',
    configuration: encoded(yaml),
    ...changes,
  },
  tenant: { id: `id-of-${tenant}`, reference: tenant, instance: 'one' },
});

export const availableIn = (status: CommonStatus): Condition | undefined =>
  status.conditions?.find(({ type }) => type === 'Available');

/** Podless with workloads and an S3 beside it, and the words that the tests of Collector share. */
export async function startCollectorSystem(options: SystemOptions = {}) {
  const s3 = await startTestS3();
  const system = await startTestSystem({ workloads: true, s3: s3.url, ...options }).catch(
    async (error: unknown) => {
      await s3.stop();
      throw error;
    },
  );
  const { admin } = system;
  const ref = (name: string) => ({ kind: collector.kind, namespace: 'default', name });
  const read = async (name: string) => (await admin.get(ref(name))) as Collector | undefined;
  const status = async (name: string): Promise<CollectorState> => (await read(name))?.status ?? {};
  const reaches = (name: string, is: (state: CollectorState) => boolean, seconds = 60) =>
    until(
      async () => {
        const object = await read(name);
        const state = object?.status ?? {};
        const seen = state.observedGeneration === object?.metadata.generation;
        return seen && is(state) ? state : undefined;
      },
      {
        seconds,
        what: async () => `${name} to get there; it is ${JSON.stringify(await status(name))}`,
      },
    );
  const eventsOf = async (name: string): Promise<readonly CollectorEvent[]> => {
    const { items } = await admin.list(kinds.event, { limit: 5_000 });
    return (items as CollectorEvent[])
      .filter(({ regarding }) => regarding.name === name && regarding.kind === 'Collector')
      .toSorted((one, other) => one.eventTime.localeCompare(other.eventTime));
  };

  return {
    ...system,
    s3,
    ref,
    get: read,
    status,
    reaches,
    eventsOf,
    create: (name: string, spec: object) =>
      admin.create(collector.kind, 'default', { metadata: { name }, spec }) as Promise<Collector>,
    patch: (name: string, spec: object) => admin.mergePatch(ref(name), { spec }),
    /** Also asks for a look now, instead of when it would be tried again. */
    poke: (name: string) =>
      admin.mergePatch(ref(name), {
        metadata: {
          annotations: { 'podless.dev/reconcile-requested-at': new Date().toISOString() },
        },
      }),
    isAvailable: (name: string, seconds?: number) =>
      reaches(name, (state) => availableIn(state)?.status === 'True', seconds),
    /** Not available for this reason; resolves with the condition. */
    fails: async (name: string, reason: string): Promise<Condition> => {
      const failed = (state: CollectorState) =>
        availableIn(state)?.status === 'False' && availableIn(state)?.reason === reason;
      const condition = availableIn(await reaches(name, failed));
      if (!condition) throw new Error('unreachable');
      return condition;
    },
    remove: async (name: string) => {
      await admin.delete(ref(name), {});
      await until(async () => ((await read(name)) ? undefined : true), {
        seconds: 60,
        what: async () => `${name} to go; it is ${JSON.stringify(await status(name))}`,
      });
    },
    /** Names of what is in a namespace of what the charts of these tests hold, and of Helm's own records. */
    contentsOf: async (namespace: string): Promise<readonly string[]> => {
      const found = [kinds.deployment, kinds.configMap, kinds.secret].map(async (kind) => {
        const { items } = await admin.list(kind, { namespace, limit: 500 });
        return (items as KubeObject[])
          .map(({ metadata }) => `${kind.kind} ${metadata.name}`)
          .filter((title) => title !== 'ConfigMap kube-root-ca.crt');
      });
      return (await Promise.all(found)).flat();
    },
    /** What `kubectl get -o wide` shows, by the name of the column. */
    columnsOf: async (name: string): Promise<Readonly<Record<string, unknown>>> => {
      const { server, ca, token } = system.cluster.admin;
      const { group, version, plural } = collector.kind;
      const path = `/apis/${group}/${version}/namespaces/default/${plural}/${name}`;
      const headers = {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        authorization: `Bearer ${await token?.()}`,
      };
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        get(`${server}${path}`, { ca, headers }, resolve).once('error', reject);
      });
      const { columnDefinitions, rows } = (await json(answer)) as PrintedTable;
      const cells = rows[0]?.cells ?? [];
      return Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, cells[index]]));
    },
    byHand: (name: string, more: object = {}) =>
      system.invoke('podless-collector', { namespace: 'default', name, ...more }),
    stop: async () => {
      await system.stop();
      await s3.stop();
    },
  };
}

export type CollectorSystem = Awaited<ReturnType<typeof startCollectorSystem>>;
