import { Fn, Stack } from 'aws-cdk-lib';
import { CfnVPCEndpoint, type SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import type { NetworkProps } from './network.ts';

interface GatewayService {
  readonly name: string;
  /** Variable by which the SDK is told another address. */
  readonly variable: string;
  /** Address of the service at an interface, from the first of its DNS entries: `<hosted zone>:<name>`, the regional one. */
  readonly addressOf: (entry: string) => string;
}

/** Where AWS offers both a gateway in the route tables, which is free, and an interface. */
const services = {
  DynamoDb: {
    name: 'dynamodb',
    variable: 'AWS_ENDPOINT_URL_DYNAMODB',
    addressOf: (entry) => `https://${Fn.select(1, Fn.split(':', entry))}`,
  },
  S3: {
    name: 's3',
    variable: 'AWS_ENDPOINT_URL_S3',
    // The name is `*.vpce-...`, and requests for buckets go to `bucket.vpce-...`.
    addressOf: (entry) => `https://bucket${Fn.select(1, Fn.split('*', entry))}`,
  },
} as const satisfies Readonly<Record<string, GatewayService>>;

/**
 * Makes a service reachable by the route tables, if they are known; else by an interface, under a name of its own only: with
 * the usual name, all that the VPC reads and writes there would have to be paid for.
 *
 * @returns what functions need to know
 */
export function createGateway(
  scope: Construct,
  id: keyof typeof services,
  { vpcId, subnetIds, routeTableIds }: NetworkProps,
  { securityGroupId }: SecurityGroup,
): Readonly<Record<string, string>> {
  const { name, variable, addressOf }: GatewayService = services[id];
  const serviceName = `com.amazonaws.${Stack.of(scope).region}.${name}`;
  if (routeTableIds.length > 0) {
    new CfnVPCEndpoint(scope, id, {
      vpcId,
      vpcEndpointType: 'Gateway',
      serviceName,
      routeTableIds: [...routeTableIds],
    });
    return {};
  }
  const endpoint = new CfnVPCEndpoint(scope, `${id}Interface`, {
    vpcId,
    vpcEndpointType: 'Interface',
    serviceName,
    subnetIds: [...subnetIds],
    securityGroupIds: [securityGroupId],
    privateDnsEnabled: false,
  });
  return { [variable]: addressOf(Fn.select(0, endpoint.attrDnsEntries)) };
}
