import { asText } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import { jsonReply, ServiceError } from './replies.ts';
import type { Service } from './service.ts';

/** A control plane that plays an EKS cluster. */
export interface EksCluster {
  /** https://host:port */
  readonly endpoint: string;
  /** Certificate of the authority that signed its own: PEM in base64. */
  readonly ca: string;
}

const arnOf = ({ region, input }: AwsCall, account: string): string =>
  `arn:aws:eks:${region}:${account}:cluster/${asText(input['name'])}`;

/** Answers DescribeCluster itself: moto would invent an endpoint. */
export function createEksService(
  clusters: Readonly<Record<string, EksCluster>>,
  account: string,
): Service {
  return {
    accesses: async (call) => [{ action: `eks:${call.operation}`, resource: arnOf(call, account) }],
    async answer(call) {
      const name = asText(call.input['name']);
      const cluster = Object.hasOwn(clusters, name) ? clusters[name] : undefined;
      if (!cluster) {
        throw new ServiceError(
          'ResourceNotFoundException',
          `No cluster found for name: ${name}.`,
          404,
        );
      }
      return jsonReply(200, {
        cluster: {
          name,
          arn: arnOf(call, account),
          createdAt: 1_750_000_000,
          version: '1.36',
          endpoint: cluster.endpoint,
          status: 'ACTIVE',
          certificateAuthority: { data: cluster.ca },
          platformVersion: 'eks.1',
          accessConfig: { authenticationMode: 'API' },
        },
      });
    },
  };
}
