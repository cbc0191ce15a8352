import { ArnFormat, Stack, Validations } from 'aws-cdk-lib';
import {
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  Subnet,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { grantWildcard } from './grants.ts';
import { createGateway } from './network-gateway.ts';

export interface NetworkProps {
  readonly vpcId: string;
  /** At most one for each availability zone, where endpoints are made. */
  readonly subnetIds: readonly string[];
  /** Route tables of those subnets. */
  readonly routeTableIds: readonly string[];
  /** False for a VPC that has them, or a way to the internet, already. */
  readonly createEndpoints: boolean;
}

/** AWS APIs that the functions call, besides DynamoDB and S3. Logs and metrics go past the VPC. */
const services = {
  Eks: InterfaceVpcEndpointAwsService.EKS,
  Sts: InterfaceVpcEndpointAwsService.STS,
  Sqs: InterfaceVpcEndpointAwsService.SQS,
  Events: InterfaceVpcEndpointAwsService.EVENTBRIDGE,
} as const;

/** Addresses a VPC can have. The endpoints have no other, so nobody outside reaches them anyway. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];

/** The place of all functions in a VPC, for clusters whose API has no public address. */
export class Network extends Construct {
  /** For each function. */
  readonly placement: Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;
  readonly securityGroup: SecurityGroup;
  /** What functions in here need to know. */
  readonly environment: Readonly<Record<string, string>>;
  /** What those need to know that read from S3. */
  readonly s3Environment: Readonly<Record<string, string>>;

  /** @param needs whether any function reads from S3 */
  constructor(scope: Construct, id: string, props: NetworkProps, needs: { readonly s3: boolean }) {
    super(scope, id);
    const { vpcId, subnetIds, createEndpoints } = props;
    // By attributes, since a lookup would need an account at synth. Zones are asked for, but subnets are named one by one.
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones: ['any'] });
    const subnets = subnetIds.map((subnetId) => importSubnet(this, subnetId));
    this.securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'Podless functions',
      allowAllOutbound: false,
    });
    this.securityGroup.addEgressRule(Peer.anyIpv4(), Port.HTTPS, 'Kubernetes and AWS APIs');
    this.placement = { vpc, vpcSubnets: { subnets }, securityGroups: [this.securityGroup] };
    const group = createEndpoints ? this.createEndpoints(vpc, subnets) : undefined;
    const gateway = (id: 'DynamoDb' | 'S3') => (group ? createGateway(this, id, props, group) : {});
    this.environment = gateway('DynamoDb');
    this.s3Environment = needs.s3 ? gateway('S3') : {};
  }

  /** Lets Lambda make the network interfaces it needs with this role, and keeps the function's own code from doing so. */
  allowInterfaces(role: Role, functionName: string): void {
    const actions = [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ];
    grantWildcard(role, {
      actions,
      resources: ['*'],
      reason:
        'Lambda itself makes the network interfaces with this role: Describe knows no resources, and interfaces have no name before they exist. A deny keeps the code of the function from using these rights.',
    });
    const functionArn = Stack.of(this).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: functionName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    role.addToPrincipalPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions,
        resources: ['*'],
        conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
      }),
    );
  }

  /** @returns the security group of endpoints */
  private createEndpoints(vpc: IVpc, subnets: ISubnet[]): SecurityGroup {
    const securityGroup = new SecurityGroup(this, 'Endpoints', {
      vpc,
      description: 'Podless: endpoints of AWS APIs',
      allowAllOutbound: false,
    });
    // Everything in the VPC resolves the names of these APIs to the endpoints from now on, not only our functions.
    for (const range of privateRanges) {
      securityGroup.addIngressRule(Peer.ipv4(range), Port.HTTPS, 'The VPC and networks tied to it');
    }
    for (const [id, service] of Object.entries(services)) {
      new InterfaceVpcEndpoint(this, id, {
        vpc,
        service,
        subnets: { subnets },
        securityGroups: [securityGroup],
        open: false,
      });
    }
    return securityGroup;
  }
}

function importSubnet(scope: Construct, subnetId: string): ISubnet {
  const subnet = Subnet.fromSubnetAttributes(scope, subnetId, { subnetId });
  Validations.of(subnet).acknowledge({
    id: '@aws-cdk/aws-ec2:noSubnetRouteTableId',
    reason: 'Nothing asks a subnet for its route table: -c routeTableIds names those.',
  });
  return subnet;
}
