import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import { applyManifests } from '../../local/manifests.ts';
import { isKubeStatus, type KubeClient } from '../../runtime/kube/client.ts';
import { until } from './until.ts';

interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly versions: readonly object[] };
}

const { group, plural, kind: kindName } = ddbctldpjob.kind;
const file = join(import.meta.dirname, '..', '..', 'crds', `${group}_${plural}.yaml`);
const crdKind = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Stores objects as they might have been stored before the CRD had its rules, then puts the rules back. */
export async function storeWithoutRules(
  admin: KubeClient,
  specs: Readonly<Record<string, unknown>>,
): Promise<void> {
  const crd = parse(await readFile(file, 'utf8')) as Crd;
  const ref = { kind: crdKind, namespace: '', name: crd.metadata.name };
  const versions = crd.spec.versions.map((version) => ({
    ...version,
    schema: { openAPIV3Schema: anything },
  }));
  // By the same manager as the manifests: it alone can take the rules away and put them back.
  const loose = { ...crd, spec: { ...crd.spec, versions } };
  await admin.apply(ref, loose, { fieldManager: 'podless' });
  for (const [name, spec] of Object.entries(specs)) {
    await until(() => tryToStore(admin, name, spec), {
      seconds: 30,
      what: async () => `the API server to store ${name} without rules`,
    });
  }
  await applyManifests(admin);
  let probe = 0;
  await until(
    async () => {
      probe += 1;
      return (await tryToStore(admin, `probe-${probe}`, { tableName: [7] })) ? undefined : true;
    },
    { seconds: 30, what: async () => 'the API server to go by the rules again' },
  );
}

/** True, or undefined if it was refused. */
async function tryToStore(admin: KubeClient, name: string, spec: unknown) {
  try {
    await admin.create(ddbctldpjob.kind, 'default', {
      kind: kindName,
      metadata: { name },
      ...(spec !== undefined && { spec }),
    });
    return true;
  } catch (error) {
    if (isKubeStatus(error, 422)) return undefined;
    throw error;
  }
}
