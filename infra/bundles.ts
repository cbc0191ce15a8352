/** `node infra/bundles.ts`: builds every bundle and says what it weighs. With --update: writes what is in each to bundles.json. */
import { writeFileSync } from 'node:fs';
import { operators } from '../functions/operators.ts';
import { bundleAll, bundleNamesOf } from './bundle.ts';
import { type BundleLedger, ledgerPath, ledgerProblems, readLedger } from './bundle-ledger.ts';

/** For a bundle that is new; then it is to be lowered by hand to a little over what it weighs. */
const FIRST_BUDGET_KILOBYTES = 900;

const bundles = await bundleAll(bundleNamesOf(operators));
for (const { name, bytes, contents } of bundles) {
  console.log(`${name}: ${Math.ceil(bytes / 1000)} kB, ${contents.length} packages`);
}
const before = readLedger();
if (process.argv.includes('--update')) {
  const after: BundleLedger = Object.fromEntries(
    bundles.map(({ name, contents }) => [
      name,
      { budgetKilobytes: before[name]?.budgetKilobytes ?? FIRST_BUDGET_KILOBYTES, contents },
    ]),
  );
  writeFileSync(ledgerPath, `${JSON.stringify(after, null, 2)}\n`);
}
const problems = ledgerProblems(bundles, readLedger());
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
