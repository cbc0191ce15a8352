import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Watch } from '../../functions/helm/watch.ts';
import { readWatches } from '../watches.ts';
import { chartCrd } from './chart-crd.ts';
import { notice, type Output } from './output.ts';

/** What follows from watches.yaml and the charts: the list that the code reads, and a CRD for each kind. */
export async function generateCharts(root: string, output: Output): Promise<void> {
  const watches = readWatches({ root, taken: functionNames(root) });
  output.put('functions/helm/generated/watches.ts', watchesModule(watches));
  for (const watch of watches) {
    const path = crdPathOf(watch);
    if (isOurs(path, output)) output.put(path, `${crdNotice}${await chartCrd(watch, root)}`);
  }
  removeOrphans(root, watches.map(crdPathOf), output);
}

export const crdPathOf = ({ group, plural }: Pick<Watch, 'group' | 'plural'>): string =>
  `crds/${group}_${plural}.yaml`;

/** Every function but those out of charts has a folder of its name. */
const functionNames = (root: string): readonly string[] =>
  readdirSync(join(root, 'functions'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const watchesModule = (watches: readonly Watch[]): string => `// ${notice}
import type { Watch } from '../watch.ts';

export const watches: readonly Watch[] = ${JSON.stringify(watches, null, 2)};
`;

const crdNotice = `# ${notice} For a CRD of your own, take this line away.\n`;

/** A CRD without the notice was written by a person, and stays. */
const isOurs = (path: string, output: Output): boolean => {
  const current = output.current(path);
  return current === '' || current.startsWith(`# ${notice}`);
};

/** CRDs of kinds that are no longer in watches.yaml. */
function removeOrphans(root: string, wanted: readonly string[], output: Output): void {
  const paths = readdirSync(join(root, 'crds'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `crds/${name}`);
  for (const path of paths) {
    const generated = output.current(path).startsWith(crdNotice);
    if (generated && !wanted.includes(path)) output.remove(path);
  }
}
