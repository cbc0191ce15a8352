import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { applyManifests } from '../../local/manifests.ts';
import { isKubeStatus, type KubeClient } from '../../runtime/kube/client.ts';
import type { Operator } from '../../runtime/operator.ts';
import { until } from './until.ts';

interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly versions: readonly object[] };
}

const crdKind = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Stores objects as they might have been stored before the CRD had its rules, then puts the rules back. */
export async function storeBeforeRules(
  admin: KubeClient,
  { kind }: Operator,
  specs: Readonly<Record<string, unknown>>,
): Promise<void> {
  const file = join(import.meta.dirname, '..', '..', 'crds', `${kind.group}_${kind.plural}.yaml`);
  const crd = parse(await readFile(file, 'utf8')) as Crd;
  const ref = { kind: crdKind, namespace: '', name: crd.metadata.name };
  const versions = crd.spec.versions.map((version) => ({
    ...version,
    schema: { openAPIV3Schema: anything },
  }));
  let refusal = '';
  const store = (name: string, spec: unknown) =>
    admin.create(kind, 'default', { metadata: { name }, spec }).then(
      () => true as const,
      (error: unknown) => {
        if (!isKubeStatus(error, 422)) throw error;
        refusal = error.message;
        return undefined;
      },
    );
  // By the same manager as the manifests: it alone can take the rules away and put them back.
  await admin.apply(ref, { ...crd, spec: { ...crd.spec, versions } }, { fieldManager: 'podless' });
  for (const [name, spec] of Object.entries(specs)) {
    await until(() => store(name, spec), {
      seconds: 30,
      what: async () => `the API server to store ${name} without rules; it says ${refusal}`,
    });
  }
  await applyManifests(admin);
  let probe = 0;
  const rulesAreBack = async () => {
    probe += 1;
    return (await store(`probe-${probe}`, [7])) ? undefined : true;
  };
  await until(rulesAreBack, { seconds: 30, what: async () => 'the rules to be back' });
}
