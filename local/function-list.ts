import { join } from 'node:path';
import { operators } from '../functions/operators.ts';
import { resyncSettings } from '../functions/resync/settings.ts';
import { watcherSettings } from '../functions/watcher/settings.ts';

export interface FunctionDefinition {
  /** The Lambda is called `podless-<name>`. */
  readonly name: string;
  readonly modulePath: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly maxConcurrency: number;
}

const modulePathOf = (name: string): string =>
  join(import.meta.dirname, '..', 'functions', name, 'function.ts');

/** Shifts overlap by two; the rest is for runs by hand. */
const SERVICE_CONCURRENCY = 4;

/** Every function there is, as it would be deployed. */
export const functionList: readonly FunctionDefinition[] = [
  { name: 'watcher', maxConcurrency: SERVICE_CONCURRENCY, ...watcherSettings },
  { name: 'resync', maxConcurrency: SERVICE_CONCURRENCY, ...resyncSettings },
  ...operators,
].map(({ name, timeoutSeconds, memoryMegabytes, maxConcurrency }) => ({
  name,
  timeoutSeconds,
  memoryMegabytes,
  maxConcurrency,
  modulePath: modulePathOf(name),
}));
