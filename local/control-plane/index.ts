export { type ResolveOptions, resolveBinaries } from './binaries.ts';
export { type Child, type ChildOptions, spawnChild } from './child.ts';
export { freePort } from './free-port.ts';
export type { Progress, Report } from './progress.ts';
export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './start.ts';
export type { ClusterUser } from './users.ts';
export { apiBinaries, type BinaryName, binaryNames, kubernetesVersion } from './versions.ts';
