import { controllerOf } from '../../runtime/children/child.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { Kind } from '../../runtime/operator.ts';
import type { ReconcileContext } from '../../runtime/reconcile.ts';
import { fieldOf, textOf } from '../../runtime/untrusted.ts';
import { listPages } from '../../runtime/watch/list-pages.ts';
import type { Trouble } from './progress.ts';
import { LABEL_GOOP } from './work.ts';

const podKind: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' };
const PAGE_SIZE = 500;
/** A container on its way; any other reason to wait is trouble. */
const ON_THE_WAY = ['PodInitializing', 'ContainerCreating'];

/** On which nodes the worker fails, and why: only the pods tell. */
export async function readFailedNodes(
  { metadata }: KubeObject,
  { kube, signal }: ReconcileContext,
): Promise<readonly Trouble[]> {
  const { namespace, uid, labels } = metadata;
  const labelSelector = `${LABEL_GOOP}=${labels?.[LABEL_GOOP]}`;
  const failed: Trouble[] = [];
  const options = { namespace, labelSelector, limit: PAGE_SIZE, signal };
  for await (const { items } of listPages(kube, podKind, options)) {
    const pods = (items as readonly KubeObject[]).filter((pod) => controllerOf(pod)?.uid === uid);
    failed.push(...pods.flatMap((pod) => troubleOf(pod) ?? []));
  }
  return failed.toSorted((one, other) => (one.who < other.who ? -1 : 1));
}

/** What keeps a pod from being ready, if it is more than time. */
export function troubleOf(pod: KubeObject): Trouble | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const who = `node ${textOf(pod.spec, 'nodeName') ?? '(none yet)'}`;
  if (textOf(pod.status, 'phase') === 'Failed') {
    return { who, why: textOf(pod.status, 'message') ?? textOf(pod.status, 'reason') ?? 'failed' };
  }
  const statuses = [
    ...listOf(pod.status, 'initContainerStatuses'),
    ...listOf(pod.status, 'containerStatuses'),
  ];
  const [why] = statuses.flatMap((status) => containerTrouble(status) ?? []);
  return why === undefined ? undefined : { who, why };
}

function containerTrouble(status: unknown): string | undefined {
  const state = fieldOf(status, 'state');
  const waiting = textOf(fieldOf(state, 'waiting'), 'reason');
  const ended = fieldOf(state, 'terminated') ?? fieldOf(fieldOf(status, 'lastState'), 'terminated');
  const exitCode = Number(fieldOf(ended, 'exitCode') ?? 0);
  const stuck = waiting !== undefined && !ON_THE_WAY.includes(waiting) ? ` (${waiting})` : '';
  if (exitCode === 0 && stuck === '') return undefined;
  const what = exitCode === 0 ? 'does not start' : `ended with exit code ${exitCode}`;
  return `container ${textOf(status, 'name') ?? ''} ${what}${stuck}`;
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}
