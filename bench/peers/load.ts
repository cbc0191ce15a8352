import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * A package of bench/node_modules. Through `require`, not `import`: where the peers are not installed (every place but the
 * bench) the types must hold all the same.
 */
export const loadPeer = <T>(name: string): T => require(name) as T;
