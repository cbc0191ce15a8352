import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { rbacManifests } from '../../runtime/kube/rbac.ts';
import type { Operator } from '../../runtime/operator.ts';
import { notice, type Output } from './output.ts';

const RBAC = 'rbac.yaml';
const KUSTOMIZATION = 'kustomization.yaml';

/** What `kubectl apply -k crds` needs beside the CRDs. */
export function generateManifests(
  root: string,
  operators: readonly Operator[],
  output: Output,
): void {
  const rbac = rbacManifests(operators).map((manifest) =>
    stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false }),
  );
  output.put(`crds/${RBAC}`, `# ${notice}\n${rbac.join('---\n')}`);
  output.put(`crds/${KUSTOMIZATION}`, kustomization(root));
}

function kustomization(root: string): string {
  const crds = readdirSync(join(root, 'crds'))
    .filter((name) => name.endsWith('.yaml') && name !== RBAC && name !== KUSTOMIZATION)
    .toSorted();
  return `# ${notice}
# kubectl apply -k crds
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${[...crds, RBAC].map((name) => `  - ${name}`).join('\n')}
`;
}
