import { join } from 'node:path';
import { operators } from '../functions/operators.ts';
import { resyncSettings } from '../functions/resync/settings.ts';
import { watcherSettings } from '../functions/watcher/settings.ts';
import { codeOf } from '../runtime/operator.ts';

export interface FunctionDefinition {
  /** The Lambda is called `podless-<name>`. */
  readonly name: string;
  readonly modulePath: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly maxConcurrency: number;
}

const modulePathOf = (code: string): string =>
  join(import.meta.dirname, '..', 'functions', code, 'function.ts');

/** Shifts overlap by two; the rest is for runs by hand. */
const SERVICE_CONCURRENCY = 4;

const services = [
  { name: 'watcher', ...watcherSettings },
  { name: 'resync', ...resyncSettings },
].map((settings) => ({ ...settings, maxConcurrency: SERVICE_CONCURRENCY, code: settings.name }));

/** Every function there is, as it would be deployed. */
export const functionList: readonly FunctionDefinition[] = [
  ...services,
  ...operators.map((operator) => ({ ...operator, code: codeOf(operator) })),
].map(({ name, code, timeoutSeconds, memoryMegabytes, maxConcurrency }) => ({
  name,
  timeoutSeconds,
  memoryMegabytes,
  maxConcurrency,
  modulePath: modulePathOf(code),
}));
