import {
  BatchWriteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DescribeClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ListQueuesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionPolicy } from '../../functions/ddbctldpjob/session-policy.ts';
import '../helpers/dynamodb-credentials.ts';
import { createTestTables } from '../helpers/dynamodb-tables.ts';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { eventsAs, sqsAs } from './cloud/clients.ts';
import type { FaultEffect } from './cloud/front/faults.ts';
import type { Credentials } from './cloud/front/identities.ts';
import { names, type TestCloud, useTestCloud } from './cloud/test-cloud.ts';

const tableArn = 'arn:aws:dynamodb:us-east-1:123456789012:table/orders-2026';
const hostile = `\${aws:username}*`;

const query = (value: string, TableName = 'orders-2026') =>
  new QueryCommand({
    TableName,
    KeyConditionExpression: '#p = :p',
    ExpressionAttributeNames: { '#p': 'customer' },
    ExpressionAttributeValues: { ':p': { S: value } },
  });

const deletion = (...values: readonly string[]) =>
  new BatchWriteItemCommand({
    RequestItems: {
      'orders-2026': values.map((S) => ({ DeleteRequest: { Key: { customer: { S } } } })),
    },
  });

const clientOptions = ({ cloud }: TestCloud, credentials: Credentials) => ({
  endpoint: cloud.frontUrl,
  region: cloud.region,
  credentials,
  maxAttempts: 1,
});

const dynamodbAs = (system: TestCloud, credentials: Credentials): DynamoDBClient =>
  new DynamoDBClient(clientOptions(system, credentials));

/** As the reconciler does it for one object. */
async function assumeScopedRole(
  system: TestCloud,
  options: { readonly Policy?: string; readonly by?: string } = {},
): Promise<Credentials> {
  const { by = names.reconciler, Policy } = options;
  const sts = new STSClient(clientOptions(system, system.functionOf(by).credentials));
  const RoleArn = system.functionOf(names.reconciler).environment['PODLESS_SCOPED_ROLE'];
  const command = new AssumeRoleCommand({ RoleArn, RoleSessionName: 'job', Policy });
  const { Credentials: given } = await sts.send(command);
  return {
    accessKeyId: given?.AccessKeyId ?? '',
    secretAccessKey: given?.SecretAccessKey ?? '',
    sessionToken: given?.SessionToken ?? '',
  };
}

const denied = { name: expect.stringMatching(/^AccessDenied/) as string };

describe.skipIf(motoMissing)(`Rights by the synthesized template, on ${motoName}`, () => {
  const { deploy, dynamodbUrl } = useTestCloud();
  beforeAll(async () => {
    const tables = createTestTables(dynamodbUrl());
    for (const name of ['orders-2026', 'salaries']) {
      await tables.create(name, { partitionKey: { name: 'customer', type: 'S' } });
    }
    const items = ['a', 'b', hostile].map((S) => ({ customer: { S } }));
    await tables.put('orders-2026', items);
  });

  test('every function may use what it needs, and what another needs it may not', async () => {
    const system = await deploy();
    const { cloud, functionOf } = system;
    const event = { EventBusName: names.bus, Source: 's', DetailType: 't', Detail: '{}' };
    const put = new PutEventsCommand({ Entries: [event] });
    const toDefaultBus = new PutEventsCommand({ Entries: [{ ...event, EventBusName: 'default' }] });
    const [watcher, resync] = [functionOf(names.watcher), functionOf(names.resync)];
    expect(await eventsAs(cloud, watcher.identity).send(put)).toMatchObject({
      FailedEntryCount: 0,
    });
    await expect(eventsAs(cloud, watcher.identity).send(toDefaultBus)).rejects.toMatchObject(
      denied,
    );
    await expect(eventsAs(cloud, resync.identity).send(put)).rejects.toMatchObject(denied);

    const { url: QueueUrl } = cloud.queue(names.inbox);
    const send = new SendMessageCommand({ QueueUrl, MessageBody: '{}' });
    expect(await sqsAs(cloud, resync.identity).send(send)).toHaveProperty('MessageId');
    await expect(sqsAs(cloud, watcher.identity).send(send)).rejects.toMatchObject(denied);

    const refusals = cloud.calls.filter(({ allowed }) => !allowed);
    expect(refusals.map(({ principal, action }) => `${principal}: ${action}`)).toEqual([
      `${names.watcher}: events:PutEvents`,
      `${names.resync}: events:PutEvents`,
      `${names.watcher}: sqs:SendMessage`,
    ]);
    expect(cloud.gaps).toEqual([]);
  });

  test.each(['a', hostile])(
    'a session for partition %s reaches that partition only',
    async (own) => {
      const system = await deploy();
      const Policy = sessionPolicy({ tableArn, value: { S: own } });
      const session = dynamodbAs(system, await assumeScopedRole(system, { Policy }));
      expect(await session.send(query(own))).toMatchObject({ Count: 1 });
      await expect(session.send(query('b'))).rejects.toMatchObject(denied);
      await expect(session.send(deletion(own, 'b'))).rejects.toMatchObject(denied);
      await expect(session.send(query(own, 'salaries'))).rejects.toMatchObject(denied);
      await expect(
        session.send(new ScanCommand({ TableName: 'orders-2026' })),
      ).rejects.toMatchObject(denied);
      expect(await session.send(deletion(own))).toMatchObject({ UnprocessedItems: {} });
      expect(await session.send(query(own))).toMatchObject({ Count: 0 });
      expect(system.cloud.gaps).toEqual([]);
    },
  );

  test('without a session the reconciler may look at the tables of the deployment, and no more', async () => {
    const system = await deploy();
    const own = dynamodbAs(system, system.functionOf(names.reconciler).credentials);
    const describeTable = (TableName: string) => own.send(new DescribeTableCommand({ TableName }));
    expect(await describeTable('orders-2026')).toHaveProperty('Table.TableName', 'orders-2026');
    await expect(describeTable('salaries')).rejects.toMatchObject(denied);
    await expect(own.send(query('b'))).rejects.toMatchObject(denied);
    const put = new PutItemCommand({ TableName: 'orders-2026', Item: { customer: { S: 'c' } } });
    await expect(own.send(put)).rejects.toMatchObject(denied);
  });

  test('only the reconciler may assume the scoped role, with a policy that STS takes', async () => {
    const system = await deploy();
    await expect(assumeScopedRole(system, { by: names.watcher })).rejects.toMatchObject(denied);
    const tooLong = sessionPolicy({ tableArn, value: { S: 'x'.repeat(3000) } }, 4000);
    const invalid = { name: 'ValidationError' };
    await expect(assumeScopedRole(system, { Policy: tooLong })).rejects.toMatchObject(invalid);
    await expect(assumeScopedRole(system, { Policy: '{"ключ":1}' })).rejects.toMatchObject(invalid);
    await expect(assumeScopedRole(system, { Policy: 'no' })).rejects.toMatchObject({
      name: expect.stringMatching(/^MalformedPolicyDocument/) as string,
    });
  });

  test('a function is known by its role and its name', async () => {
    const system = await deploy();
    const { credentials, roleArn } = system.functionOf(names.watcher);
    const sts = new STSClient(clientOptions(system, credentials));
    const role = roleArn.replace(/^.*\//, '');
    expect(await sts.send(new GetCallerIdentityCommand({}))).toMatchObject({
      Arn: `arn:aws:sts::123456789012:assumed-role/${role}/${names.watcher}`,
      Account: '123456789012',
    });
    expect(system.cloud.identify(credentials.accessKeyId)).toMatchObject({
      roleArn,
      sessionName: names.watcher,
      secretAccessKey: credentials.secretAccessKey,
    });
    expect(system.cloud.identify('ASIANOBODY')).toBeUndefined();
    expect(system.cloud.accessEntries('prod')).toContainEqual({
      principalArn: roleArn,
      kubernetesGroups: ['podless:watcher'],
      username: 'podless:watcher:{{SessionName}}',
    });
  });

  test('a cluster of the deployment can be found, another may not even be asked for', async () => {
    const system = await deploy();
    const eks = new EKSClient(clientOptions(system, system.functionOf(names.watcher).credentials));
    const { cluster } = await eks.send(new DescribeClusterCommand({ name: 'prod' }));
    expect(cluster).toMatchObject({
      endpoint: 'https://127.0.0.1:6443',
      certificateAuthority: { data: 'Y2VydGlmaWNhdGU=' },
    });
    await expect(eks.send(new DescribeClusterCommand({ name: 'other' }))).rejects.toMatchObject(
      denied,
    );
  });

  test('a template for a cluster that does not exist cannot be deployed', async () => {
    await expect(deploy({ clusters: {} })).rejects.toThrow('there is no cluster "prod"');
  });

  test.each<[string, Partial<Credentials>, RegExp]>([
    ['a foreign secret', { secretAccessKey: 'guessed' }, /InvalidSignatureException/],
    ['a foreign key', { accessKeyId: 'ASIANOBODY' }, /UnrecognizedClientException/],
    ['another session token', { sessionToken: 'other' }, /UnrecognizedClientException/],
  ])('nobody gets in with %s', async (_, change, name) => {
    const system = await deploy();
    const credentials = { ...system.functionOf(names.reconciler).credentials, ...change };
    const describeTable = new DescribeTableCommand({ TableName: 'orders-2026' });
    await expect(dynamodbAs(system, credentials).send(describeTable)).rejects.toMatchObject({
      name: expect.stringMatching(name) as string,
    });
  });

  test.each<[string, FaultEffect, number]>([
    ['an error', { status: 503 }, 0],
    ['a connection that ends before', { reset: true }, 0],
    ['an answer that is lost', { lostReply: true }, 1],
    ['no answer at all', { hang: true }, 0],
  ])('a call can be made to fail once by %s', async (_, effect, delivered) => {
    const { cloud, ...system } = await deploy();
    const client = new SQSClient(
      clientOptions({ ...system, cloud }, system.functionOf(names.resync).credentials),
    );
    cloud.fault({ service: 'sqs', action: 'SendMessage', ...effect });
    const inbox = cloud.queue(names.inbox);
    const send = new SendMessageCommand({ QueueUrl: inbox.url, MessageBody: '{}' });
    const giveUp = new AbortController();
    const sending = client.send(send, { abortSignal: giveUp.signal });
    const failed = expect(sending).rejects.toThrow();
    await system.eventually(async () =>
      cloud.calls.find(({ resource }) => resource.endsWith(names.inbox)),
    );
    if ('hang' in effect) giveUp.abort();
    await failed;
    expect(await inbox.depth()).toMatchObject({ visible: delivered });
    await client.send(send);
    expect(await inbox.depth()).toMatchObject({ visible: delivered + 1 });
  });

  test('what the harness does not know is refused, and told to the test', async () => {
    const { cloud, functionOf } = await deploy();
    const sqs = sqsAs(cloud, functionOf(names.resync).identity);
    await expect(sqs.send(new ListQueuesCommand({}))).rejects.toMatchObject({
      name: 'NotImplemented',
    });
    expect(new Set(cloud.gaps)).toEqual(new Set(['the harness does not know sqs:ListQueues']));
  });

  test('knows of every grant whether it was needed', async () => {
    const system = await deploy();
    const grant = `${names.reconciler}: dynamodb:DescribeTable on ${tableArn.replace('2026', '*')}`;
    expect(system.cloud.granted()).toContain(grant);
    expect(system.cloud.used()).not.toContain(grant);
    const own = dynamodbAs(system, system.functionOf(names.reconciler).credentials);
    await own.send(new DescribeTableCommand({ TableName: 'orders-2026' }));
    expect(system.cloud.used()).toContain(grant);
    const all = system.cloud.granted();
    expect([...system.cloud.used()].filter((one) => !all.has(one))).toEqual([]);
  });
});
