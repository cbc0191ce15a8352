import { describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { parseContext } from '../../infra/context.ts';
import { contextKeys } from '../../infra/context-keys.ts';
import { describeProblems } from '../../infra/context-message.ts';
import { oneCluster, twoClustersInVpc } from './synthesize.ts';

const good = { clusters: 'prod', tables: 'orders' };
const vpc = { vpcId: 'vpc-0a1b2c3d', subnetIds: 'subnet-0a1b2c3d' };
const name = (length: number): string => 'x'.repeat(length);

/** What is given, which key is to blame, and words that must be in the message. */
const bad: readonly (readonly [Readonly<Record<string, unknown>>, string, string])[] = [
  [{ tables: 'orders' }, 'clusters', 'is missing'],
  [{ ...good, clusters: '' }, 'clusters', 'is empty'],
  [{ ...good, clusters: 'prod,' }, 'clusters', 'has an empty entry (number 2)'],
  [{ ...good, clusters: 'prod, prod' }, 'clusters', 'has "prod" twice'],
  [{ ...good, clusters: '-prod' }, 'clusters', '"-prod"'],
  [{ ...good, clusters: 'prod.eu' }, 'clusters', '"prod.eu"'],
  [{ ...good, clusters: name(101) }, 'clusters', 'not of the form expected'],
  [{ ...good, clusters: 'prod staging' }, 'clusters', '"prod staging"'],
  [{ ...good, clusters: 'prod\nstaging' }, 'clusters', '"prod\\nstaging"'],
  [{ ...good, clusters: ['prod'] }, 'clusters', 'is not text'],
  [
    { ...good, clusters: Array.from({ length: 30 }, (_, i) => name(90) + i).join() },
    'clusters',
    'at most 2000 fit',
  ],
  [{ clusters: 'prod' }, 'tables', 'is missing'],
  [{ ...good, tables: '*' }, 'tables', 'all tables of the account'],
  [{ ...good, tables: 'orders,**' }, 'tables', 'all tables of the account'],
  [{ ...good, tables: '*-*' }, 'tables', 'all tables of the account'],
  [{ ...good, tables: 'orders;drop' }, 'tables', '"orders;drop"'],
  [{ ...good, tables: 'arn:aws:dynamodb:eu-west-1:111122223333:table/orders' }, 'tables', 'form'],
  [{ ...good, tables: name(256) }, 'tables', 'form'],
  [{ ...good, tables: 'orders,orders' }, 'tables', 'twice'],
  [
    { ...good, tables: Array.from({ length: 30 }, (_, i) => name(200) + i).join() },
    'tables',
    'at most 6000 fit',
  ],
  [{ ...good, regions: 'Ireland' }, 'regions', '"Ireland"'],
  [{ ...good, regions: 'eu-west-1,' }, 'regions', 'empty entry'],
  [{ ...good, vpcId: vpc.vpcId }, 'subnetIds', 'is missing'],
  [{ ...good, subnetIds: vpc.subnetIds }, 'subnetIds', 'without vpcId'],
  [{ ...good, ...vpc, vpcId: 'my-vpc' }, 'vpcId', 'is not the id of a VPC'],
  [{ ...good, ...vpc, subnetIds: 'subnet-xyz' }, 'subnetIds', '"subnet-xyz"'],
  [{ ...good, ...vpc, routeTableIds: 'rtb' }, 'routeTableIds', '"rtb"'],
  [{ ...good, routeTableIds: 'rtb-0a1b2c3d' }, 'routeTableIds', 'without vpcId'],
  [{ ...good, ...vpc, regions: 'eu-west-1' }, 'routeTableIds', 'while regions is given'],
  [{ ...good, createVpcEndpoints: 'false' }, 'createVpcEndpoints', 'without vpcId'],
  [{ ...good, ...vpc, createVpcEndpoints: 'no' }, 'createVpcEndpoints', 'neither true nor false'],
  [
    { ...good, ...vpc, createVpcEndpoints: 'false', routeTableIds: 'rtb-0a1b2c3d' },
    'routeTableIds',
    'forbids',
  ],
  [{ ...good, endpoints: '*' }, 'endpoints', 'not an origin'],
  [{ ...good, endpoints: 'https://*.example' }, 'endpoints', 'not an origin'],
  [{ ...good, endpoints: 'https://a.example/path' }, 'endpoints', 'not an origin'],
  [{ ...good, endpoints: 'https://a.example/' }, 'endpoints', 'not an origin'],
  [{ ...good, endpoints: 'ftp://a.example' }, 'endpoints', 'not an origin'],
  [{ ...good, endpoints: 'https://user@a.example' }, 'endpoints', 'not an origin'],
  [{ ...good, operators: '' }, 'operators', 'is empty'],
  [{ ...good, operators: 'goop,goop' }, 'operators', 'twice'],
  [{ ...good, operators: 'goop,helm' }, 'operators', 'has "helm", which is none of ddbctldpjob, '],
  [{ clusters: 'prod', operators: 'goop,ddbctldpjob' }, 'tables', 'is missing'],
  [{ ...good, developmentBucket: 'Charts' }, 'developmentBucket', 'not the name of a bucket'],
  [{ ...good, developmentBucket: 's3://charts' }, 'developmentBucket', 'not the name of a bucket'],
  [{ ...good, productionBucket: 'a..b' }, 'productionBucket', 'not the name of a bucket'],
  [{ ...good, productionBucket: '10.0.0.1' }, 'productionBucket', 'not the name of a bucket'],
  [{ ...good, productionBucket: name(64) }, 'productionBucket', 'not the name of a bucket'],
  [{ ...good, productionBucket: 'charts-*' }, 'productionBucket', 'not the name of a bucket'],
  [{ ...good, chartBucketAccount: '1234' }, 'chartBucketAccount', 'not the number of an account'],
  [{ ...good, tenantNamespaces: '' }, 'tenantNamespaces', 'is empty'],
  [{ ...good, tenantNamespaces: 'Acme' }, 'tenantNamespaces', '"Acme"'],
  [{ ...good, tenantNamespaces: 'a/b' }, 'tenantNamespaces', '"a/b"'],
  [{ ...good, tenantNamespaces: '-acme' }, 'tenantNamespaces', '"-acme"'],
  [{ ...good, tenantNamespaces: 'acme,kube-system' }, 'tenantNamespaces', 'is never let into it'],
  [
    { ...good, tenantNamespaces: Array.from({ length: 30 }, (_, i) => name(50) + i).join() },
    'tenantNamespaces',
    'at most 1000 fit',
  ],
  [{ ...good, logRetentionDays: '8' }, 'logRetentionDays', 'not a number of days'],
  [{ ...good, logRetentionDays: '9999' }, 'logRetentionDays', 'not a number of days'],
  [{ ...good, logRetentionDays: 'week' }, 'logRetentionDays', 'not a number of days'],
  [{ ...good, alarmTopicArn: 'on-call' }, 'alarmTopicArn', 'not the ARN'],
  [
    { ...good, alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:calls.fifo' },
    'alarmTopicArn',
    'not the ARN',
  ],
  [{ cluster: 'prod', tables: 'orders' }, 'clusters', 'meant by -c cluster="prod"'],
  [{ ...good, clusterNames: 'a' }, 'clusters', 'meant by -c clusterNames="a"'],
  [{ ...good, clsuters: 'a' }, 'clusters', 'meant by -c clsuters="a"'],
  [{ ...good, table: 'a' }, 'tables', 'meant by -c table="a"'],
  [{ ...good, 'table-names': 'a' }, 'tables', 'meant by -c table-names="a"'],
  [{ ...good, region: 'eu-west-1' }, 'regions', 'meant by -c region="eu-west-1"'],
  [{ ...good, vpc: 'a' }, 'vpcId', 'meant by -c vpc="a"'],
  [{ ...good, subnets: 'a' }, 'subnetIds', 'meant by -c subnets="a"'],
  [{ ...good, operator: 'goop' }, 'operators', 'meant by -c operator="goop"'],
  [{ ...good, tenantNamespace: 'a' }, 'tenantNamespaces', 'meant by -c tenantNamespace="a"'],
  [{ ...good, developmentBuckets: 'a' }, 'developmentBucket', 'meant by -c developmentBuckets="a"'],
  [{ ...good, alarmTopic: 'a' }, 'alarmTopicArn', 'meant by -c alarmTopic="a"'],
];

describe('a wrong value', () => {
  test.each(bad)('%j is refused, and the message says why', (values, key, words) => {
    const message = refusal(values);
    expect(message).toContain(`-c ${key} `);
    expect(message).toContain(words);
    expect(message).toContain(`example   npx cdk deploy ${contextKeys[key as 'clusters'].example}`);
    if (values[key] !== undefined) expect(message).toContain(JSON.stringify(values[key]));
  });

  test('does not hide another', () => {
    const message = refusal({ cluster: 'prod', tables: '*', logRetentionDays: '8' });
    expect(message).toContain('3 values are not right');
    for (const key of ['clusters', 'tables', 'logRetentionDays'])
      expect(message).toContain(`-c ${key}`);
  });
});

describe('right values', () => {
  test('become settings', () => {
    expect(accepted(twoClustersInVpc)).toEqual({
      clusters: ['prod', 'staging'],
      operators,
      charts: {
        developmentBucket: 'acme-charts-dev',
        productionBucket: 'acme-charts',
        bucketAccount: '444455556666',
        tenantNamespaces: ['tenant-*', 'acme'],
      },
      tables: { names: ['orders'], regions: ['eu-west-1', 'eu-central-1'] },
      endpoints: ['https://dynamodb.internal.example:8000'],
      logRetentionDays: 90,
      alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
      network: {
        vpcId: 'vpc-0a1b2c3d',
        subnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'],
        routeTableIds: ['rtb-0a1b2c3d'],
        createEndpoints: true,
      },
    });
  });

  test('have defaults for all but clusters and tables', () => {
    expect(accepted(oneCluster)).toEqual({
      clusters: ['prod'],
      operators,
      charts: { developmentBucket: 'development-helm', productionBucket: 'production-helm' },
      tables: { names: ['orders', 'sessions-*'] },
      endpoints: [],
      logRetentionDays: 30,
    });
  });

  test('may name the operators to deploy, in any order', () => {
    const { operators: some } = accepted({ ...good, operators: 'goop, ddbctldpjob' });
    expect(some.map(({ name }) => name)).toEqual(['ddbctldpjob', 'goop']);
  });

  test('need no tables where no operator touches any', () => {
    expect(accepted({ clusters: 'prod', operators: 'goop' }).tables).toEqual({ names: [] });
  });

  test('may have spaces around names', () => {
    const { clusters, tables } = accepted({ clusters: ' a , b ', tables: ' t1,t2 ' });
    expect([clusters, tables.names]).toEqual([
      ['a', 'b'],
      ['t1', 't2'],
    ]);
  });

  test('may be numbers and booleans, as in cdk.json', () => {
    const given = { ...good, ...vpc, clusters: 7, logRetentionDays: 7, createVpcEndpoints: false };
    const { clusters, logRetentionDays, network } = accepted(given);
    expect([clusters, logRetentionDays, network?.createEndpoints]).toEqual([['7'], 7, false]);
  });

  test('may stand among values of others', () => {
    const others = { '@aws-cdk/core:x': true, 'aws:cdk:y': 1, team: 'a', stage: 'b', owner: 'c' };
    expect(accepted({ ...others, ...good })).toEqual(accepted(good));
  });

  test.each(Object.entries(contextKeys))('are those of the example of %s', (_, { example }) => {
    const assignments = [...example.matchAll(/-c (\w+)='?([^' ]+)'?/g)];
    const values = Object.fromEntries(assignments.map(([, key, value]) => [key, value]));
    expect(accepted(values).clusters).toContain('prod');
  });
});

function refusal(values: Readonly<Record<string, unknown>>): string {
  const parsed = parseContext(values, operators);
  if ('settings' in parsed) throw new Error(`accepted: ${JSON.stringify(parsed.settings)}`);
  return describeProblems(parsed.problems);
}

function accepted(values: Readonly<Record<string, unknown>>) {
  const parsed = parseContext(values, operators);
  if ('problems' in parsed) throw new Error(describeProblems(parsed.problems));
  return parsed.settings;
}
