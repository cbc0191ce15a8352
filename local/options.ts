import { parseArgs } from 'node:util';

/** A mistake in the command line: printed without a stack, exit code 2. */
export class UsageError extends Error {}

export interface OptionSpec {
  readonly type: 'text' | 'number' | 'flag';
  /** For --help: what stands after the option. */
  readonly value?: string;
  readonly help: string;
  /** Smallest number allowed. Default 1. */
  readonly minimum?: number;
  /** Whether the number must be whole. Default false. */
  readonly whole?: boolean;
}

export type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CommandLine {
  readonly usage: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
}

/** Reads the command line; undefined if only help was asked for, which is printed. */
export function readOptions(
  { usage, options }: CommandLine,
  args: readonly string[],
): OptionValues | undefined {
  const values = parse(options, args);
  if (values['help'] === true) {
    process.stdout.write(helpText(usage, options));
    return undefined;
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, readValue(name, value, options[name])]),
  );
}

function parse(options: CommandLine['options'], args: readonly string[]): Record<string, unknown> {
  const config = Object.fromEntries(
    Object.entries({ ...options, help: { type: 'flag' } }).map(([name, { type }]) => [
      name,
      { type: type === 'flag' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    return { ...parseArgs({ args: [...args], options: config }).values };
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; --help lists the options`);
  }
}

function readValue(
  name: string,
  value: unknown,
  spec: OptionSpec | undefined,
): string | number | boolean {
  if (typeof value === 'boolean') return value;
  const text = String(value);
  if (spec?.type !== 'number') return text;
  const { minimum = 1, whole = false } = spec;
  const number = Number(text);
  if (
    text.trim() !== '' &&
    number >= minimum &&
    number <= Number.MAX_SAFE_INTEGER &&
    (!whole || Number.isInteger(number))
  ) {
    return number;
  }
  throw new UsageError(
    `--${name} must be a ${whole ? 'whole ' : ''}number of at least ${minimum}, got "${text}"`,
  );
}

function helpText(usage: string, options: CommandLine['options']): string {
  const all: CommandLine['options'] = { ...options, help: { type: 'flag', help: 'this text' } };
  const rows = Object.entries(all).map(
    ([name, { value, help }]) =>
      `  ${`--${name}${value === undefined ? '' : ` ${value}`}`.padEnd(30)} ${help}`,
  );
  return `${usage}\n\n${rows.join('\n')}\n`;
}
