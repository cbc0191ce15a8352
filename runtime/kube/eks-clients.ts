import { environmentCredentials } from '../aws/credentials.ts';
import type { Clock } from '../clock.ts';
import type { KubeClient } from './client.ts';
import { createFindAddress } from './eks-address.ts';
import { createEksTransport } from './eks-connection.ts';
import { createKubeClientOver } from './rest-client.ts';

export interface EksClientsOptions {
  /** Names of the clusters that may be reached. */
  readonly clusters: readonly string[];
  readonly region: string;
  readonly clock: Clock;
}

/** The clients of these clusters, made now and connected at their first use. Throws for any other name. */
export function createEksClients({
  clusters,
  region,
  clock,
}: EksClientsOptions): (cluster: string) => KubeClient {
  const shared = {
    region,
    clock,
    credentials: environmentCredentials,
    findAddress: createFindAddress({ region, clock }),
  };
  const clients = new Map(
    clusters.map((cluster) => [
      cluster,
      createKubeClientOver(createEksTransport({ cluster, ...shared })),
    ]),
  );
  return (cluster) => {
    const client = clients.get(cluster);
    if (client) return client;
    const served = clusters.join(', ') || 'none';
    throw new Error(`cluster must be one of ${served}, got ${JSON.stringify(cluster)}`);
  };
}
