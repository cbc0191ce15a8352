import type { Cluster } from '@aws-sdk/client-eks';
import { attempted, type Patience } from '../aws/attempts.ts';
import { AwsCallError } from '../aws/call-error.ts';
import type { ClientSite } from '../aws/client-options.ts';
import { KubeConnectionError } from './client.ts';

/** Where the API server of a cluster is, and how to know that it is the right one. */
export interface ClusterAddress {
  /** https://... */
  readonly server: string;
  /** PEM of the certificate authority. */
  readonly ca: string;
  /** Only from within the cluster's VPC. */
  readonly isPrivate: boolean;
}

/** Throws a KubeConnectionError: whatever is wrong is found by trying again, and may be put right meanwhile. */
export type FindAddress = (cluster: string) => Promise<ClusterAddress>;

export type FindAddressOptions = ClientSite & Pick<Patience, 'clock' | 'random'>;

const PATIENCE = { attempts: 3, milliseconds: 5_000 } as const;

/** Asks the EKS API. Its client is needed once or twice in the life of a function, and loaded then. */
export function createFindAddress({ clock, random, ...site }: FindAddressOptions): FindAddress {
  return async (name) => {
    const { createDescribeCluster } = await import('./eks-api.ts');
    const describeCluster = createDescribeCluster(site);
    try {
      const call = () => describeCluster(name);
      return toAddress(name, await attempted(call, { ...PATIENCE, clock, random }));
    } catch (error) {
      throw error instanceof AwsCallError ? explain(error, name, site.region) : error;
    }
  };
}

/** A cluster that is being updated has both; one that is being created has neither yet. */
function toAddress(name: string, cluster: Cluster): ClusterAddress {
  const { endpoint, certificateAuthority, status = 'unknown', resourcesVpcConfig } = cluster;
  const ca = Buffer.from(certificateAuthority?.data ?? '', 'base64').toString();
  if (!endpoint || !ca.includes('-----BEGIN CERTIFICATE-----')) {
    throw new KubeConnectionError(
      `EKS cluster "${name}" must have an endpoint and a certificate authority, has status ${status} and lacks them`,
    );
  }
  // Our token goes there: never over a connection that others can read.
  if (!endpoint.startsWith('https://') || !URL.canParse(endpoint)) {
    throw new KubeConnectionError(
      `endpoint of EKS cluster "${name}" must be an https URL, got ${JSON.stringify(endpoint)}`,
    );
  }
  return { server: endpoint, ca, isPrivate: resourcesVpcConfig?.endpointPublicAccess === false };
}

function explain(error: AwsCallError, name: string, region: string): KubeConnectionError {
  const cluster = `EKS cluster "${name}"`;
  switch (error.fault) {
    case 'missing':
      return new KubeConnectionError(
        `${cluster} does not exist in ${region}: check the names in -c clusters, and the region of this stack`,
      );
    case 'denied':
      return new KubeConnectionError(
        `${cluster} may not be described: the role of this function needs eks:DescribeCluster on it (${error.message})`,
      );
    case 'unreachable':
      return new KubeConnectionError(
        `the EKS API of ${region} cannot be reached to find ${cluster}: ${error.code}; a VPC needs a NAT gateway or an endpoint for EKS`,
      );
    case 'throttled':
    case 'unavailable':
    case 'refused':
      return new KubeConnectionError(`${cluster} cannot be found: ${error.message}`);
  }
}
