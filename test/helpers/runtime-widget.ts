import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject, ObjectRef } from '../../runtime/kube/objects.ts';
import type { Kind, Operator } from '../../runtime/operator.ts';
import type { ConditionState, Reconciler, Result } from '../../runtime/reconcile.ts';
import { until } from './until.ts';

/** A kind of the tests' own, with a status subresource; any spec and any status goes. */
export const widgetKind: Kind = {
  group: 'test.podless.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
};

export const configMapKind: Kind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
};

export const eventKind: Kind = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
};

export const FINALIZER = 'test.podless.dev/cleanup';

export const widgetOperator: Operator = {
  name: 'widget',
  kind: widgetKind,
  owns: [],
  resyncSeconds: 600,
  timeoutSeconds: 60,
  memoryMegabytes: 128,
  maxConcurrency: 1,
  maxReceives: 3,
  rbac: [],
  iam: [],
};

/** With a finalizer, and ConfigMaps as children. */
export const heldWidgetOperator: Operator = {
  ...widgetOperator,
  finalizer: FINALIZER,
  owns: [
    {
      ...configMapKind,
      labelSelector: 'test.podless.dev/widget',
      verbs: ['get', 'create', 'patch', 'delete'],
    },
  ],
};

const crdKind: Kind = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Resolves when the API server serves Widgets. */
export async function installWidgets(admin: KubeClient): Promise<void> {
  const { group, version, kind, plural } = widgetKind;
  const name = `${plural}.${group}`;
  await admin.create(crdKind, '', {
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: 'widget' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } },
          },
        },
      ],
    },
  });
  await until(
    async () => (await admin.list(widgetKind, { limit: 1 }).catch(() => undefined)) && true,
    {
      seconds: 60,
      what: async () => 'the API server to serve Widgets',
    },
  );
}

export type WidgetStatus = Readonly<Record<string, unknown>>;
export type Widget = KubeObject<Readonly<Record<string, unknown>>, WidgetStatus>;

export const widgetRef = (name: string): ObjectRef => ({
  kind: widgetKind,
  namespace: 'default',
  name,
});

/** What a person does to Widgets, and sees of them. */
export function createWidgets(admin: KubeClient) {
  const get = async (name: string) => (await admin.get(widgetRef(name))) as Widget | undefined;
  return {
    get,
    mustGet: async (name: string): Promise<Widget> => {
      const widget = await get(name);
      if (!widget) throw new Error(`there must be a widget ${name}`);
      return widget;
    },
    create: (name: string, spec: object = {}, metadata: object = {}) =>
      admin.create(widgetKind, 'default', {
        metadata: { name, ...metadata },
        spec,
      }) as Promise<Widget>,
    patch: (name: string, patch: object) =>
      admin.mergePatch(widgetRef(name), patch) as Promise<Widget>,
    annotate: (name: string, annotations: Readonly<Record<string, string | null>>) =>
      admin.mergePatch(widgetRef(name), { metadata: { annotations } }) as Promise<Widget>,
    /** As some other controller writes it. */
    writeStatus: (name: string, status: object) =>
      admin.apply(
        widgetRef(name),
        { metadata: { name }, status },
        { fieldManager: 'somebody-else', subresource: 'status' },
      ) as Promise<Widget>,
    delete: (name: string) => admin.delete(widgetRef(name), {}),
    /** Reasons of the Kubernetes Events about it, oldest first. */
    events: async (name: string): Promise<readonly string[]> => {
      const { items } = await admin.list(eventKind, { limit: 1000 });
      return (items as readonly KubeEvent[])
        .filter(({ regarding }) => regarding.name === name)
        .toSorted((one, other) => one.eventTime.localeCompare(other.eventTime))
        .map(({ type, reason }) => `${type} ${reason}`);
    },
  };
}

interface KubeEvent {
  readonly type: string;
  readonly reason: string;
  readonly eventTime: string;
  readonly regarding: { readonly name: string };
}

export const ready = (
  status: ConditionState['status'] = 'True',
  reason = 'Made',
  message = 'all is well',
): ConditionState => ({ type: 'Ready', status, reason, message });

/** A reconciler that does what it is told, and nothing else. */
export function reconcilerOf(
  reconcile: Reconciler['reconcile'],
  finalize?: Reconciler['finalize'],
): Reconciler {
  return {
    reconcile,
    ...(finalize && { finalize }),
    describeFailure: ({ object }) => ({ status: { size: sizeOf(object) } }),
  };
}

export const sizeOf = ({ spec }: KubeObject): number =>
  Number((spec as { readonly size?: unknown } | undefined)?.size ?? 0);

/** Ready at once, with the size of the spec in the status. */
export const made = (object: KubeObject): Result => ({
  status: { size: sizeOf(object) },
  conditions: [ready()],
});
