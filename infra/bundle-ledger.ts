import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from './bundle.ts';

export const ledgerPath = join(import.meta.dirname, 'bundles.json');

export interface BundleEntry {
  /** Of all its code, without source maps; a kilobyte is 1,000 bytes. */
  readonly budgetKilobytes: number;
  /** What may be in it. */
  readonly contents: readonly string[];
}

/** What each bundle may weigh and hold: committed, so that a change of it is seen in review. */
export type BundleLedger = Readonly<Record<string, BundleEntry>>;

export const readLedger = (): BundleLedger =>
  JSON.parse(readFileSync(ledgerPath, 'utf8')) as BundleLedger;

/** One sentence for each way in which the bundles are not what the ledger says. */
export function ledgerProblems(
  bundles: readonly Bundle[],
  ledger: BundleLedger,
): readonly string[] {
  const names = new Set(bundles.map(({ name }) => name));
  const stale = Object.keys(ledger).filter((name) => !names.has(name));
  return [
    ...bundles.flatMap((bundle) => bundleProblems(bundle, ledger[bundle.name])),
    ...stale.map((name) => `${name} is in bundles.json, but there is no such bundle`),
  ];
}

function bundleProblems(
  { name, bytes, contents }: Bundle,
  entry: BundleEntry | undefined,
): readonly string[] {
  if (!entry) return [`${name} is not in bundles.json`];
  const { budgetKilobytes } = entry;
  const added = contents.filter((one) => !entry.contents.includes(one));
  const gone = entry.contents.filter((one) => !contents.includes(one));
  return [
    ...(bytes > budgetKilobytes * 1000
      ? [`${name} is ${bytes} bytes, its budget is ${budgetKilobytes} kB`]
      : []),
    ...added.map((one) => `${name} holds ${one}, which bundles.json does not list`),
    ...gone.map((one) => `${name} does not hold ${one}, which bundles.json lists`),
  ];
}
