/**
 * The Kubernetes version of every binary; `go/go.mod` requires the same one (a test compares them).
 */
export const kubernetesVersion = '1.36.3';
export const kwokVersion = '0.8.0';

export const binaryNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
] as const;

export type BinaryName = (typeof binaryNames)[number];

/**
 * All that an API server needs; the others only matter to kinds with children (Deployments, Jobs).
 */
export const apiBinaries = ['etcd', 'kube-apiserver'] as const satisfies readonly BinaryName[];

export interface Platform {
  readonly os: string;
  readonly arch: string;
}

/** This machine in the words of Go and of the Kubernetes release archives. */
export function currentPlatform(): Platform {
  return { os: process.platform, arch: process.arch === 'x64' ? 'amd64' : process.arch };
}
