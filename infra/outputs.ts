import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Operator } from '../runtime/operator.ts';
import { hasGrantOn } from './declared-grants.ts';
import { nameOf } from './names.ts';
import type { Network } from './network.ts';

export interface OutputsProps {
  readonly clusters: readonly string[];
  readonly operators: readonly Operator[];
  readonly network: Network | undefined;
}

/** `cdk deploy` prints them last: what to type next, in that order. */
export function addOutputs(scope: Construct, { clusters, operators, network }: OutputsProps): void {
  const { region } = Stack.of(scope);
  const output = (id: string, description: string, value: string) =>
    new CfnOutput(scope, id, { description, value });
  if (network) {
    const group = `$(aws eks describe-cluster --region ${region} --name ${CLUSTER} --query cluster.resourcesVpcConfig.clusterSecurityGroupId --output text)`;
    output(
      'Next0Network',
      'Lets the functions reach the Kubernetes API',
      forEach(
        clusters,
        `aws ec2 authorize-security-group-ingress --region ${region} --group-id ${group} --protocol tcp --port 443 --source-group ${network.securityGroup.securityGroupId}`,
      ),
    );
  }
  output(
    'Next1Kinds',
    'Installs the kinds and their RBAC in the cluster',
    forEach(
      clusters,
      `aws eks update-kubeconfig --region ${region} --name ${CLUSTER} && kubectl apply -k crds`,
    ),
  );
  const [first] = operators;
  if (!first) return;
  const { name } = first;
  output(
    'Next2Sample',
    hasGrantOn('tables')(first)
      ? 'Makes a first object; put your own table and its region into it before'
      : 'Makes a first object',
    `kubectl apply -f crds/samples/${name}.yaml`,
  );
  // The loop above leaves kubectl at the last cluster, and a request that names none means the first.
  const cluster = clusters.length > 1 ? clusters.at(-1) : undefined;
  const payload = JSON.stringify({ cluster, namespace: 'default', name: `${name}-sample` });
  output(
    'Next3Invoke',
    'Reconciles it now, and writes the outcome to out.json',
    `aws lambda invoke --function-name ${nameOf(name)} --payload '${payload}' --cli-binary-format raw-in-base64-out out.json --region ${region} --cli-read-timeout 0`,
  );
}

const CLUSTER = '$cluster';

/** A command for each cluster, as one line for a shell. */
const forEach = (clusters: readonly string[], command: string): string =>
  clusters.length === 1
    ? command.replaceAll(CLUSTER, clusters.join())
    : `for cluster in ${clusters.join(' ')}; do ${command}; done`;
