import { createHash } from 'node:crypto';

/** Lambda allows as many characters in a function's name, and Scheduler in a schedule's. */
const MAX_NAME = 64;
const HASH_CHARACTERS = 8;

/** The name itself, or its beginning and a hash of the whole where it is too long: always the same for the same name. */
export function fitName(name: string, max: number = MAX_NAME): string {
  if (name.length <= max) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `${name.slice(0, max - HASH_CHARACTERS - 1)}-${hash}`;
}

/** `podless-<parts>`, as everything is called that a person may look for. */
export const nameOf = (...parts: readonly string[]): string =>
  fitName(['podless', ...parts].join('-'));

/** Id of a construct for a cluster: CDK gives ids such as `Default` a meaning, and a cluster may be called so. */
export const clusterId = (cluster: string): string => `Cluster-${cluster}`;

/** Taken by the other functions; a watcher has its cluster's name behind. */
const reserved = /^(?:resync|watcher(?:-.*)?)$/;

/** Throws if two operators, or an operator and another function, would get the same names on AWS. */
export function checkOperatorNames(names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    const fault = nameFault(name) ?? (names.indexOf(name) < index ? 'must be unique' : undefined);
    if (fault) throw new Error(`name of an operator ${fault}, got ${JSON.stringify(name)}`);
  }
}

function nameFault(name: string): string | undefined {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) {
    return 'must be 1 to 40 lower-case letters, digits and dashes, the first a letter';
  }
  return reserved.test(name) ? 'must not be that of another function' : undefined;
}
