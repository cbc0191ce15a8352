import { type Cluster, DescribeClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { called } from '../aws/call-error.ts';
import { type ClientSite, clientOptions } from '../aws/client-options.ts';

export type DescribeCluster = (name: string) => Promise<Cluster>;

/** The one call of the EKS API that we make. A module of its own, so that a bundle loads it late and holds no other call. */
export function createDescribeCluster(site: ClientSite): DescribeCluster {
  const client = new EKSClient(clientOptions(site));
  return async (name) => {
    const command = new DescribeClusterCommand({ name });
    const { cluster } = await called('DescribeCluster', () => client.send(command));
    return cluster ?? {};
  };
}
