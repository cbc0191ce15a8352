import { type AccessEntry, checkAccessEntries } from '../../cluster/access-entry.ts';
import type { Stack } from '../template/stack.ts';

/** The access entries of the template, by cluster. An entry for a cluster that does not exist is an error, as on EKS. */
export function accessEntriesOf(
  stack: Stack,
  clusters: ReadonlySet<string>,
): ReadonlyMap<string, readonly AccessEntry[]> {
  const entries = stack.ofType('AWS::EKS::AccessEntry').map(({ fields }) => {
    const cluster = fields.text('ClusterName');
    if (!clusters.has(cluster)) {
      throw new Error(`${fields.path}.ClusterName: there is no cluster ${JSON.stringify(cluster)}`);
    }
    const type = fields.optionalText('Type') ?? 'STANDARD';
    if (type !== 'STANDARD')
      throw new Error(`the harness knows STANDARD access entries, not ${type}`);
    const username = fields.optionalText('Username');
    const entry: AccessEntry = {
      principalArn: fields.text('PrincipalArn'),
      kubernetesGroups: fields.has('KubernetesGroups') ? fields.texts('KubernetesGroups') : [],
      ...(username !== undefined && { username }),
    };
    return { cluster, entry };
  });
  const byCluster = new Map(
    [...Map.groupBy(entries, ({ cluster }) => cluster)].map(([cluster, list]) => [
      cluster,
      list.map(({ entry }) => entry),
    ]),
  );
  for (const list of byCluster.values()) checkAccessEntries(list);
  return byCluster;
}
