import { parseArgs } from 'node:util';
import { UsageError } from '../local/options.ts';
import type { Part } from './part.ts';
import { parts } from './parts/list.ts';

export interface BenchCommand {
  readonly parts: readonly Part[];
  readonly full: boolean;
  readonly json: boolean;
  readonly write: boolean;
}

/** Reads the command line; undefined if only help was asked for, which is printed. */
export function readCommand(args: readonly string[]): BenchCommand | undefined {
  const { values, positionals } = parse(args);
  if (values.help) {
    process.stdout.write(helpText());
    return undefined;
  }
  const chosen = positionals.map(partNamed);
  const { full, json, write } = values;
  if (write && chosen.length > 0)
    throw new UsageError('--write makes the whole page: it needs all parts, not some');
  return { parts: chosen.length > 0 ? chosen : parts, full, json, write };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = { full: flag, json: flag, write: flag, help: flag };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; --help lists the options`);
  }
}

function partNamed(name: string): Part {
  const part = parts.find((one) => one.name === name);
  if (part) return part;
  const names = parts.map((one) => one.name).join(', ');
  throw new UsageError(`expected a part (${names}), got "${name}"`);
}

const helpText = (): string => `npm run bench -- [part...] [options]

Measures the deletion of a partition side by side with other ways to do it, and the start of each function. Tables go to
standard output, progress to standard error. Exit code 1: a figure is missed by more than its noise.

parts (default: all)
${parts.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}

options
  --full       1,000,000 items for memory and deadlines: half an hour, not ten minutes
  --json       one JSON document instead of tables
  --write      write docs/benchmarks.md and docs/benchmarks.svg
  --help       this text
`;
