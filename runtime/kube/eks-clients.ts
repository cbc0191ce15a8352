import { environmentCredentials } from '../aws/credentials.ts';
import type { Clock } from '../clock.ts';
import type { KubeClient } from './client.ts';
import { createFindAddress } from './eks-address.ts';
import { createEksTransport } from './eks-connection.ts';
import { createEksToken } from './eks-token.ts';
import { createKubeClientOver } from './rest-client.ts';
import type { KubeConnection } from './transport.ts';

export interface EksClientsOptions {
  /** Names of the clusters that may be reached. */
  readonly clusters: readonly string[];
  readonly region: string;
  readonly clock: Clock;
}

export interface EksClients {
  /** The client of a cluster, connected at its first use. Throws for a name that is not served. */
  kube(cluster: string): KubeClient;
  /** For a program with a client of its own: asks the EKS API where the cluster is. */
  connection(cluster: string): Promise<KubeConnection>;
}

export function createEksClients({ clusters, region, clock }: EksClientsOptions): EksClients {
  const shared = { region, clock, credentials: environmentCredentials };
  const findAddress = createFindAddress({ region, clock });
  const clients = new Map(
    clusters.map((cluster) => [
      cluster,
      createKubeClientOver(createEksTransport({ cluster, findAddress, ...shared })),
    ]),
  );
  const kube = (cluster: string): KubeClient => {
    const client = clients.get(cluster);
    if (client) return client;
    const served = clusters.join(', ') || 'none';
    throw new Error(`cluster must be one of ${served}, got ${JSON.stringify(cluster)}`);
  };
  return {
    kube,
    connection: async (cluster) => {
      kube(cluster);
      const { server, ca } = await findAddress(cluster);
      return { server, ca, ...createEksToken({ cluster, ...shared }) };
    },
  };
}
