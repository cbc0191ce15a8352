/**
 * `npm run generate`: writes what follows from the CRDs, the operators and watches.yaml. With --check: fails if a file is not up
 * to date. With --charts: leaves out the types of CRDs, which only a compiler reads, and is quick.
 */
import { join } from 'node:path';
import { generateCharts } from './generate/charts.ts';
import { generateTypes } from './generate/crd-types.ts';
import { generateManifests } from './generate/manifests.ts';
import { createOutput } from './generate/output.ts';

const root = join(import.meta.dirname, '..');
const check = process.argv.includes('--check');
const output = createOutput(root, check);

try {
  await generateCharts(root, output);
  // Only now: they are made from the list that was just written.
  const { operators } = await import('../functions/operators.ts');
  if (!process.argv.includes('--charts')) await generateTypes(root, operators, output);
  generateManifests(root, operators, output);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
for (const path of output.stale) {
  if (check) console.error(`${path} is not up to date: run \`npm run generate\``);
  else console.log(`generated ${path}`);
}
if (check && output.stale.length > 0) process.exitCode = 1;
