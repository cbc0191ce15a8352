import { describe, expect, test } from 'vitest';
import { oneCluster, synthesize, twoClustersInVpc } from './synthesize.ts';
import {
  functionsOf,
  type Properties,
  propertiesOf,
  targetOf,
  textOf,
} from './template-queries.ts';

const template = synthesize(twoClustersInVpc);
const { routeTableIds: _tables, regions: _regions, ...withoutRoutes } = twoClustersInVpc;
const endpoints = propertiesOf(template, 'AWS::EC2::VPCEndpoint');
const serviceOf = ({ ServiceName }: Properties) => textOf(ServiceName).split('.').at(-1);

describe('in a VPC', () => {
  test('every function is in the subnets given, with a security group that only lets HTTPS out', () => {
    const groups = [...functionsOf(template).values()].map(({ VpcConfig }) => {
      const { SubnetIds, SecurityGroupIds } = VpcConfig as Record<string, readonly unknown[]>;
      expect(SubnetIds).toEqual(twoClustersInVpc.subnetIds.split(','));
      return SecurityGroupIds?.map(targetOf).join();
    });
    expect(new Set(groups).size).toBe(1);
    const group = template.Resources[groups[0] ?? '']?.Properties;
    expect(group).not.toHaveProperty('SecurityGroupIngress');
    expect(group?.['SecurityGroupEgress']).toMatchObject([{ FromPort: 443, ToPort: 443 }]);
  });

  test('the AWS APIs that functions call are reached inside', () => {
    const inside = endpoints.filter(({ VpcEndpointType }) => VpcEndpointType === 'Interface');
    expect(inside.map(serviceOf).sort()).toEqual(['eks', 'events', 'sqs', 'sts']);
    for (const { PrivateDnsEnabled } of inside) expect(PrivateDnsEnabled).toBe(true);
  });

  test('DynamoDB and S3 are reached by the route tables given', () => {
    const gateways = endpoints.filter(({ VpcEndpointType }) => VpcEndpointType === 'Gateway');
    expect(gateways.map((one) => [serviceOf(one), one['RouteTableIds']])).toEqual([
      ['dynamodb', [twoClustersInVpc.routeTableIds]],
      ['s3', [twoClustersInVpc.routeTableIds]],
    ]);
  });

  test('others of the VPC may use the endpoints too, since they get their addresses from now on', () => {
    const groups = new Set(endpoints.flatMap(({ SecurityGroupIds }) => SecurityGroupIds ?? []));
    const [id = ''] = [...groups].map(targetOf);
    const rules = template.Resources[id]?.Properties[
      'SecurityGroupIngress'
    ] as readonly Properties[];
    expect(rules.map(({ CidrIp }) => CidrIp)).toContain('10.0.0.0/8');
    for (const { CidrIp, ToPort } of rules) {
      expect([CidrIp, ToPort]).toEqual([expect.not.stringMatching(/\/0$/), 443]);
    }
  });

  test('a person is told how to let the functions reach the Kubernetes API', () => {
    const command = textOf(template.Outputs['Next0Network']?.Value);
    expect(command).toContain(
      'for cluster in prod staging; do aws ec2 authorize-security-group-ingress',
    );
    expect(command).toContain('--protocol tcp --port 443');
  });

  test('no endpoint is made where the VPC has them', () => {
    const values = { ...withoutRoutes, createVpcEndpoints: 'false' };
    expect(propertiesOf(synthesize(values), 'AWS::EC2::VPCEndpoint')).toEqual([]);
  });

  test('DynamoDB has an interface where no route tables are given, and functions know its name', () => {
    const alone = synthesize(withoutRoutes);
    const [interfaceTo] = propertiesOf(alone, 'AWS::EC2::VPCEndpoint').filter(
      (one) => serviceOf(one) === 'dynamodb',
    );
    expect(interfaceTo).toMatchObject({ VpcEndpointType: 'Interface', PrivateDnsEnabled: false });
    for (const { Environment } of functionsOf(alone).values()) {
      const { Variables } = Environment as { Variables: Properties };
      expect(JSON.stringify(Variables['AWS_ENDPOINT_URL_DYNAMODB'])).toContain('DnsEntries');
    }
  });

  test('S3 then has an interface too, under a name of its own, which only those know who read charts', () => {
    const alone = synthesize(withoutRoutes);
    const [interfaceTo] = propertiesOf(alone, 'AWS::EC2::VPCEndpoint').filter(
      (one) => serviceOf(one) === 's3',
    );
    // With the usual name everything that the VPC reads from S3 would have to be paid for.
    expect(interfaceTo).toMatchObject({ VpcEndpointType: 'Interface', PrivateDnsEnabled: false });
    const told = [...functionsOf(alone)].filter(([, { Environment }]) =>
      JSON.stringify(Environment).includes('AWS_ENDPOINT_URL_S3'),
    );
    expect(told.map(([name]) => name)).toEqual(['podless-collector']);
  });

  test('S3 is not reached where nobody reads charts', () => {
    const values = { ...twoClustersInVpc, operators: 'ddbctldpjob,minimart' };
    const services = propertiesOf(synthesize(values), 'AWS::EC2::VPCEndpoint').map(serviceOf);
    expect(services.sort()).toEqual(['dynamodb', 'eks', 'events', 'sqs', 'sts']);
  });
});

test('outside a VPC there is nothing of all that', () => {
  const types = Object.values(synthesize(oneCluster).Resources).map(({ Type }) => Type);
  expect(types.filter((type) => type.startsWith('AWS::EC2'))).toEqual([]);
});
