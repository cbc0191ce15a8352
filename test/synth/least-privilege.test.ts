import { describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { rightsOf } from '../../runtime/kube/rbac.ts';
import { oneCluster, synthesize, twoClustersInVpc } from './synthesize.ts';
import {
  functionsOf,
  listOf,
  propertiesOf,
  queueStatementsOf,
  resourcesOf,
  roleOf,
  type Statement,
  statementsOf,
  targetOf,
  textOf,
  trustOf,
} from './template-queries.ts';

const small = synthesize(oneCluster);
const large = synthesize(twoClustersInVpc);
const reconciler = 'podless-ddbctldpjob';
const scopedRoles = resourcesOf(large, 'AWS::IAM::Role').filter(([id]) =>
  id.includes('ScopedRole'),
);

const allowed = (statements: readonly Statement[]) =>
  statements
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) =>
      listOf(Action).flatMap((action) =>
        listOf(Resource).map((resource) => ({ action, resource: textOf(resource) })),
      ),
    );

describe.each([
  ['one cluster', small],
  ['two clusters in a VPC', large],
])('with %s', (_, template) => {
  const roles = resourcesOf(template, 'AWS::IAM::Role');
  const rights = roles.flatMap(([id]) => allowed(statementsOf(template, id)));

  test('no role has a right to a kind of action', () => {
    expect(rights.length).toBeGreaterThan(20);
    expect(rights.filter(({ action }) => action.includes('*'))).toEqual([]);
  });

  test('no role has a managed policy', () => {
    expect(roles.filter(([, { Properties }]) => 'ManagedPolicyArns' in Properties)).toEqual([]);
  });

  test('only network interfaces, tables named by pattern and charts are reached by a *', () => {
    const wide = rights.filter(({ resource }) => resource.includes('*'));
    const tables = wide.filter(({ resource }) => resource.includes(':table/'));
    const charts = wide.filter(({ resource }) => resource.includes(':s3:'));
    const others = wide.filter((right) => ![...tables, ...charts].includes(right));
    for (const { resource } of tables) expect(resource).toMatch(/:table\/sessions-\*$/);
    for (const { resource } of charts) expect(resource).toMatch(/:s3:::[a-z-]+\/charts\/\*$/);
    for (const { action, resource } of others) {
      expect([action, resource]).toEqual([expect.stringMatching(/^ec2:/), '*']);
    }
  });

  test('each function has a role of its own, for Lambda alone', () => {
    const names = [...functionsOf(template).keys()];
    const ids = names.map((name) => roleOf(template, name));
    expect(new Set(ids).size).toBe(names.length);
    for (const [, role] of roles.filter(([id]) => ids.includes(id))) {
      expect(trustOf(role)).toMatchObject([{ Principal: { Service: 'lambda.amazonaws.com' } }]);
    }
  });

  test('AWS services use roles and queues only for our own resources', () => {
    const statements = [
      ...roles.flatMap(([, role]) => trustOf(role)),
      ...resourcesOf(template, 'AWS::SQS::Queue').flatMap(([id]) =>
        queueStatementsOf(template, id),
      ),
    ];
    const ofServices = statements.filter(
      ({ Principal }) => Principal?.Service && Principal.Service !== 'lambda.amazonaws.com',
    );
    const services = new Set(ofServices.map(({ Principal }) => Principal?.Service));
    expect([...services].sort()).toEqual(
      ['events', 'pipes', 'scheduler'].map((name) => `${name}.amazonaws.com`),
    );
    for (const { Condition } of ofServices) {
      expect(Condition?.['ArnEquals']?.['aws:SourceArn']).toBeTruthy();
    }
  });

  test('every queue is encrypted and refuses requests without TLS', () => {
    const queues = resourcesOf(template, 'AWS::SQS::Queue');
    expect(queues).toHaveLength(1 + 4 * operators.length);
    for (const [id, { Properties }] of queues) {
      expect(Properties['SqsManagedSseEnabled']).toBe(true);
      expect(queueStatementsOf(template, id)).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Action: 'sqs:*',
          Principal: { AWS: '*' },
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
    }
  });
});

describe('in the clusters', () => {
  const entries = propertiesOf(large, 'AWS::EKS::AccessEntry');

  test('each function is a member of its group and nothing else', () => {
    const groups = new Set(rightsOf(operators).map(({ name }) => `podless:${name}`));
    for (const { Type, KubernetesGroups, Username, AccessPolicies } of entries) {
      const [group] = KubernetesGroups as readonly string[];
      expect([Type, KubernetesGroups, AccessPolicies]).toEqual(['STANDARD', [group], undefined]);
      expect(groups).toContain(group);
      expect(Username).toBe(`${group}:{{SessionName}}`);
    }
  });

  test('a function is let into those it serves', () => {
    const pairs = entries.map(({ ClusterName, PrincipalArn }) => [
      ClusterName,
      targetOf(PrincipalArn),
    ]);
    const expected = [...functionsOf(large)].flatMap(([name, { Environment }]) => {
      const { PODLESS_CLUSTERS } = (Environment as { Variables: Record<string, string> }).Variables;
      return PODLESS_CLUSTERS?.split(',').map((cluster) => [cluster, roleOf(large, name)]);
    });
    expect(pairs.sort()).toEqual(expected.sort());
    expect(pairs).toHaveLength(2 + 2 * (1 + operators.length));
  });

  test('a function may ask only for the address of those it serves', () => {
    const asked = (name: string) =>
      allowed(statementsOf(large, roleOf(large, name)))
        .filter(({ action }) => action.startsWith('eks:'))
        .map(({ action, resource }) => `${action} ${resource.split('/').at(-1)}`);
    expect(asked('podless-watcher-prod')).toEqual(['eks:DescribeCluster prod']);
    expect(asked(reconciler)).toEqual(['eks:DescribeCluster prod', 'eks:DescribeCluster staging']);
  });
});

describe('on DynamoDB', () => {
  const arn = (region: string, table: string) =>
    `arn:<AWS::Partition>:dynamodb:${region}:<AWS::AccountId>:table/${table}`;
  const onTables = (id: string, template = large) =>
    allowed(statementsOf(template, id)).filter(({ action }) => action.startsWith('dynamodb:'));

  const declared = (scoped: boolean) =>
    operators
      .flatMap(({ iam }) => iam.filter((one) => one.on === 'tables'))
      .filter((one) => (one.scoped ?? false) === scoped)
      .flatMap(({ actions }) => actions);
  const namesOf = (rights: readonly { readonly action: string }[]) =>
    new Set(rights.map(({ action }) => action));

  test('an operator can do to the tables named at deploy time what it declares', () => {
    const rights = onTables(roleOf(large, reconciler));
    expect(namesOf(rights)).toEqual(new Set(declared(false)));
    expect(new Set(rights.map(({ resource }) => resource))).toEqual(
      new Set([arn('eu-west-1', 'orders'), arn('eu-central-1', 'orders')]),
    );
    const inOwnRegion = onTables(roleOf(small, reconciler), small);
    expect(new Set(inOwnRegion.map(({ resource }) => resource))).toEqual(
      new Set([arn('<AWS::Region>', 'orders'), arn('<AWS::Region>', 'sessions-*')]),
    );
  });

  test('items are in reach of a second role alone, which only the function may take on, for an hour', () => {
    const [[id, role] = ['', undefined]] = scopedRoles;
    expect(scopedRoles).toHaveLength(1);
    expect(role?.Properties['MaxSessionDuration']).toBe(3600);
    expect(role && trustOf(role).map(({ Principal }) => targetOf(Principal?.AWS))).toEqual([
      roleOf(large, reconciler),
    ]);
    expect(namesOf(onTables(id))).toEqual(new Set(declared(true)));
    expect(namesOf(onTables(roleOf(large, reconciler)))).not.toContain('dynamodb:Query');
    const assumed = allowed(statementsOf(large, roleOf(large, reconciler)));
    expect(assumed).toContainEqual({ action: 'sts:AssumeRole', resource: `<${id}>` });
  });

  test('nobody can read or empty a table as a whole', () => {
    const ids = resourcesOf(large, 'AWS::IAM::Role').map(([id]) => id);
    const names = namesOf(ids.flatMap((id) => onTables(id)));
    const forbidden = /Scan|PartiQL|Table$|Backup|Export|Restore|Stream/;
    const found = [...names].filter((name) => forbidden.test(name));
    expect(found).toEqual(['dynamodb:DescribeTable']);
  });

  test('a watcher keeps its positions, and can do no more with them', () => {
    const actions = ['DeleteItem', 'GetItem', 'PutItem'].map((name) => `dynamodb:${name}`);
    const [[table] = ['']] = resourcesOf(large, 'AWS::DynamoDB::Table');
    expect(onTables(roleOf(large, 'podless-watcher-prod'))).toEqual(
      actions.map((action) => ({ action, resource: `<${table}>` })),
    );
  });
});

describe('on S3', () => {
  const onS3 = (template: typeof large, name: string) =>
    allowed(statementsOf(template, roleOf(template, name)))
      .filter(({ action }) => action.startsWith('s3:'))
      .map(({ action, resource }) => `${action} ${resource}`)
      .sort();
  const s3Statements = (template: typeof large) =>
    statementsOf(template, roleOf(template, 'podless-collector')).filter(({ Action }) =>
      listOf(Action).some((action) => action.startsWith('s3:')),
    );

  test('an operator can read charts in the buckets named at deploy time, and see that one is missing', () => {
    expect(onS3(large, 'podless-collector')).toEqual([
      's3:GetObject arn:<AWS::Partition>:s3:::acme-charts-dev/charts/*',
      's3:GetObject arn:<AWS::Partition>:s3:::acme-charts/charts/*',
      's3:ListBucket arn:<AWS::Partition>:s3:::acme-charts',
      's3:ListBucket arn:<AWS::Partition>:s3:::acme-charts-dev',
    ]);
    expect(onS3(small, 'podless-collector').join()).toContain(':::development-helm/charts/*');
  });

  test('only in the account that was named, as a name may be taken by anybody', () => {
    const accounts = (template: typeof large) =>
      s3Statements(template).map(({ Condition }) =>
        textOf(Condition?.['StringEquals']?.['aws:ResourceAccount']),
      );
    expect(accounts(large)).toEqual(['444455556666', '444455556666']);
    expect(accounts(small)).toEqual(['<AWS::AccountId>', '<AWS::AccountId>']);
  });

  test('one bucket may be both', () => {
    const same = synthesize({ ...oneCluster, developmentBucket: 'b-1', productionBucket: 'b-1' });
    expect(onS3(same, 'podless-collector')).toHaveLength(2);
  });

  test('nobody else can read any', () => {
    const others = [...functionsOf(large).keys()].filter((name) => name !== 'podless-collector');
    expect(others.flatMap((name) => onS3(large, name))).toEqual([]);
  });
});

test('in a VPC, the code of a function cannot use the rights Lambda needs for its interfaces', () => {
  for (const name of functionsOf(large).keys()) {
    const statements = statementsOf(large, roleOf(large, name));
    const [allow, deny] = ['Allow', 'Deny'].map((effect) =>
      statements.find((one) => one.Effect === effect && listOf(one.Action)[0]?.startsWith('ec2:')),
    );
    expect(deny?.Action).toEqual(allow?.Action);
    const arn = deny?.Condition?.['ArnEquals']?.['lambda:SourceFunctionArn'];
    expect(textOf(arn)).toMatch(new RegExp(`:function:${name}$`));
  }
});
