import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Watch } from '../functions/helm/watch.ts';
import { isRecord } from '../runtime/untrusted.ts';
import { readWatch } from './watches/entry.ts';
import type { Refuse } from './watches/fields.ts';

export const WATCHES_FILE = 'functions/helm/watches.yaml';

export interface WatchesOptions {
  /** Folder of the project; charts are looked for in it. */
  readonly root: string;
  /** Names of functions that no chart may take. */
  readonly taken: readonly string[];
}

/** The kinds that are backed by a chart. Throws an error that names every problem, not only the first. */
export function readWatches(options: WatchesOptions): readonly Watch[] {
  return parseWatches(readFileSync(join(options.root, WATCHES_FILE), 'utf8'), options);
}

export function parseWatches(text: string, options: WatchesOptions): readonly Watch[] {
  const problems: string[] = [];
  const entries = entriesOf(text);
  const watches = entries.flatMap((entry, index) => {
    const refuse = refusing(entry, index, problems);
    const watch = readWatch(entry, options.root, refuse);
    return watch ? [{ number: index + 1, watch, refuse }] : [];
  });
  refuseTakenNames(watches, options.taken);
  if (problems.length > 0) {
    throw new Error(`${WATCHES_FILE} must be corrected:\n${problems.map(indented).join('\n')}`);
  }
  return watches.map(({ watch }) => watch);
}

const indented = (problem: string): string => `  ${problem}`;

function entriesOf(text: string): readonly unknown[] {
  let entries: unknown;
  try {
    entries = parse(text) ?? [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${WATCHES_FILE} must be YAML: ${reason}`, { cause: error });
  }
  if (Array.isArray(entries)) return entries;
  throw new Error(`${WATCHES_FILE} must be a list of entries, got ${JSON.stringify(entries)}`);
}

/** Problems are told with the number of the entry, and its kind where that can be read. */
function refusing(entry: unknown, index: number, problems: string[]): Refuse {
  const kind = isRecord(entry) && typeof entry['kind'] === 'string' ? ` (${entry['kind']})` : '';
  return (problem) => {
    problems.push(`entry ${index + 1}${kind}: ${problem}`);
  };
}

interface Read {
  readonly number: number;
  readonly watch: Watch;
  readonly refuse: Refuse;
}

/** The kind alone is the name of the function, so even kinds of two groups cannot share it. */
function refuseTakenNames(watches: readonly Read[], taken: readonly string[]): void {
  for (const { number, watch, refuse } of watches) {
    const { group, kind, plural } = watch;
    const earlier = watches.filter((other) => other.number < number);
    const namesake = earlier.find((other) => nameOf(other.watch) === nameOf(watch));
    const sibling = earlier.find((o) => o.watch.group === group && o.watch.plural === plural);
    if (taken.includes(nameOf(watch))) {
      refuse(`kind must not be the name of another function, got ${kind}`);
    } else if (namesake) {
      refuse(`kind must be another than that of entry ${namesake.number}, got ${kind}`);
    } else if (sibling) {
      refuse(`plural must be another than that of entry ${sibling.number}, got ${plural}`);
    }
  }
}

const nameOf = ({ kind }: Watch): string => kind.toLowerCase();
