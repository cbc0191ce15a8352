import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { systemClock } from '../runtime/clock.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import type { KubeObject, ObjectRef } from '../runtime/kube/objects.ts';

const folder = join(import.meta.dirname, '..', 'crds');
const ESTABLISHED_WITHIN_MILLISECONDS = 30_000;

/** Cluster-scoped kinds only: that is all `crds/` holds. */
const plurals: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'customresourcedefinitions',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** What `kubectl apply -k crds` applies. Resolves when the API server serves the new kinds. */
export async function applyManifests(kube: KubeClient, signal?: AbortSignal): Promise<void> {
  const applied = await Promise.all(
    (await readManifests()).map((manifest) => apply(kube, manifest)),
  );
  for (const ref of applied.filter(({ kind }) => kind.kind === 'CustomResourceDefinition')) {
    await waitUntilEstablished(kube, ref, signal);
  }
}

async function readManifests(): Promise<readonly Manifest[]> {
  const kustomization = parse(await readFile(join(folder, 'kustomization.yaml'), 'utf8')) as {
    readonly resources: readonly string[];
  };
  const texts = kustomization.resources.map((file) => readFile(join(folder, file), 'utf8'));
  return (await Promise.all(texts)).flatMap((text) =>
    parseAllDocuments(text).map((document) => document.toJS() as Manifest),
  );
}

async function apply(kube: KubeClient, manifest: Manifest): Promise<ObjectRef> {
  const { apiVersion, kind, metadata } = manifest;
  const [group = '', version = ''] = apiVersion.split('/');
  const plural = plurals[kind];
  if (plural === undefined)
    throw new Error(`crds/ must hold only ${Object.keys(plurals).join(', ')}, got ${kind}`);
  const ref = { kind: { group, version, kind, plural }, namespace: '', name: metadata.name };
  await kube.apply(ref, manifest, { fieldManager: 'podless' });
  return ref;
}

async function waitUntilEstablished(kube: KubeClient, ref: ObjectRef, signal?: AbortSignal) {
  const giveUpAt = systemClock.now() + ESTABLISHED_WITHIN_MILLISECONDS;
  while (!isEstablished(await kube.get(ref, signal))) {
    if (systemClock.now() > giveUpAt)
      throw new Error(`CRD ${ref.name} was not established in time`);
    await systemClock.sleep(100, signal);
  }
}

const isEstablished = (crd: KubeObject | undefined): boolean =>
  crd?.status?.conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  ) ?? false;
