import { CfnAccessEntry } from 'aws-cdk-lib/aws-eks';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { groupOf } from '../runtime/kube/rbac.ts';
import { clusterId } from './names.ts';

export interface ClusterAccessProps {
  readonly role: IRole;
  /** Decides the Kubernetes group, and with it the RBAC in crds/rbac.yaml. */
  readonly functionName: string;
  readonly clusters: readonly string[];
}

/**
 * Lets a function's role into clusters as a member of its Kubernetes group, and as nothing else: no access policy, so
 * all it may do there is what RBAC gives that group. Needs nothing in Kubernetes to exist.
 */
export class ClusterAccess extends Construct {
  private readonly entries: ReadonlyMap<string, CfnAccessEntry>;

  constructor(scope: Construct, id: string, { role, functionName, clusters }: ClusterAccessProps) {
    super(scope, id);
    const group = groupOf(functionName);
    this.entries = new Map(
      clusters.map((clusterName) => [
        clusterName,
        new CfnAccessEntry(this, clusterId(clusterName), {
          clusterName,
          principalArn: role.roleArn,
          type: 'STANDARD',
          kubernetesGroups: [group],
          // Lambda names the session after the function, so the audit log says which one it was.
          username: `${group}:{{SessionName}}`,
        }),
      ]),
    );
  }

  entryOf(cluster: string): CfnAccessEntry {
    const entry = this.entries.get(cluster);
    if (!entry) throw new Error(`no access entry for cluster ${JSON.stringify(cluster)}`);
    return entry;
  }
}
