import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { operators } from '../../functions/operators.ts';
import type { KubeObject, ObjectRef } from '../../runtime/kube/objects.ts';
import { ANNOTATION_OWNER, childrenOf } from '../../runtime/labels.ts';
import type { Operator } from '../../runtime/operator.ts';
import type { DeployedSystem } from './deployed-system.ts';

export interface Manifest {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: object;
}

const samples = join(import.meta.dirname, '..', '..', 'crds', 'samples');

/** `crds/samples/<name>.yaml` */
export const readSample = (name: string): Manifest =>
  parse(readFileSync(join(samples, `${name}.yaml`), 'utf8')) as Manifest;

export function operatorNamed(name: string): Operator {
  const found = operators.find((operator) => operator.name === name);
  if (!found) throw new Error(`there is no operator ${name}`);
  return found;
}

/** Objects of one operator in the cluster `prod`, in the namespace default. */
export function objectsOf(system: DeployedSystem, operator: Operator) {
  const { admin } = system.cluster('prod');
  const { kind, owns } = operator;
  const refOf = (name: string): ObjectRef => ({ kind, namespace: 'default', name });
  const conditionsOf = async (name: string) => (await admin.get(refOf(name)))?.status?.conditions;
  /** What an object made, by its operator's label and its own name. */
  const children = async (name: string): Promise<readonly string[]> => {
    const lists = owns.map((owned) =>
      admin.list(owned, { limit: 500, labelSelector: childrenOf(operator.name) }),
    );
    return (await Promise.all(lists)).flatMap(({ items }, index) =>
      (items as readonly KubeObject[])
        .filter((child) => belongsTo(child, name))
        .map(({ metadata }) => `${owns[index]?.kind} ${metadata.namespace}/${metadata.name}`),
    );
  };
  return {
    create: (manifest: Manifest) => admin.create(kind, 'default', manifest),
    /** Waits until a condition is as given: `Ready=True`, or with its reason `Ready=False Conflict`. */
    reaches: (name: string, wanted: string, seconds = 90) =>
      system.eventually(
        async () => {
          const seen = (await conditionsOf(name)) ?? [];
          return seen.find(({ type, status, reason }) =>
            [`${type}=${status}`, `${type}=${status} ${reason}`].includes(wanted),
          );
        },
        {
          seconds,
          what: async () =>
            `${wanted} of ${kind.kind} ${name}: ${JSON.stringify(await conditionsOf(name))}`,
        },
      ),
    children,
    delete: (name: string) => admin.delete(refOf(name), {}),
    /** Waits until the object and all that it made are gone. */
    isGone: (name: string) =>
      system.eventually(
        async () => {
          const gone = (await admin.get(refOf(name))) === undefined;
          return gone && (await children(name)).length === 0 ? true : undefined;
        },
        {
          seconds: 90,
          what: async () => {
            const object = JSON.stringify(await admin.get(refOf(name)));
            return `${kind.kind} ${name} to go, with ${(await children(name)).join(', ')}: ${object}`;
          },
        },
      ),
  };
}

const belongsTo = ({ metadata }: KubeObject, owner: string): boolean =>
  metadata.annotations?.[ANNOTATION_OWNER] === `default/${owner}` ||
  (metadata.ownerReferences ?? []).some(({ name }) => name === owner);
