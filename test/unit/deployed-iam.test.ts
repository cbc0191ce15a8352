import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionPolicy } from '../../functions/ddbctldpjob/session-policy.ts';
import { type Caller, isAllowed, mayAssume } from '../deployed/cloud/iam/evaluate.ts';
import { HarnessGap } from '../deployed/cloud/iam/gap.ts';
import { parsePolicy } from '../deployed/cloud/iam/policy.ts';
import type { Json, JsonObject } from '../deployed/cloud/template/json.ts';

const account = '111122223333';
const roleArn = `arn:aws:iam::${account}:role/worker`;
const tableArn = `arn:aws:dynamodb:eu-west-1:${account}:table/orders`;

/** As a policy writes it. */
const variable = (name: string): string => `\${${name}}`;

const policy = (...statements: readonly JsonObject[]) =>
  parsePolicy({ Version: '2012-10-17', Statement: statements }, 'policy');

const allow = (Action: Json, Resource: Json, Condition?: JsonObject): JsonObject => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...(Condition && { Condition }),
});

const role = (...statements: readonly JsonObject[]): Caller & { readonly type: 'role' } => ({
  type: 'role',
  arn: roleArn,
  account,
  policies: [policy(...statements)],
});

const access = (
  action: string,
  resource: string,
  context: Readonly<Record<string, readonly string[]>> = {},
) => ({
  action,
  resource,
  context: new Map(Object.entries(context)),
});

const query = (...keys: readonly string[]) =>
  access('dynamodb:Query', tableArn, { 'dynamodb:leadingkeys': keys });

describe('a role', () => {
  test('may do what a statement allows, on that resource, and nothing else', () => {
    const caller = role(allow(['sqs:SendMessage', 'sqs:Get*'], `arn:aws:sqs:*:${account}:jobs-?`));
    const allowed = (action: string, name: string) =>
      isAllowed(caller, access(action, `arn:aws:sqs:eu-west-1:${account}:${name}`), []);
    expect(allowed('sqs:SendMessage', 'jobs-1')).toBe(true);
    expect(allowed('sqs:GetQueueAttributes', 'jobs-1')).toBe(true);
    expect(allowed('sqs:DeleteMessage', 'jobs-1')).toBe(false);
    expect(allowed('sqs:SendMessage', 'jobs-12')).toBe(false);
  });

  test('has a wildcard only within its part of the ARN', () => {
    const caller = role(allow('sqs:SendMessage', `arn:aws:sqs:*:jobs`));
    expect(
      isAllowed(caller, access('sqs:SendMessage', `arn:aws:sqs:eu-west-1:${account}:jobs`), []),
    ).toBe(false);
  });

  test('may not do what a statement denies, whatever allows it', () => {
    const deny = { Effect: 'Deny', Action: 'dynamodb:Scan', Resource: '*' };
    const caller = role(allow('dynamodb:*', tableArn), deny);
    expect(isAllowed(caller, access('dynamodb:Query', tableArn), [])).toBe(true);
    expect(isAllowed(caller, access('dynamodb:Scan', tableArn), [])).toBe(false);
  });

  test('in a session may do only what the session policy allows too', () => {
    const sessionPolicies = [policy(allow('dynamodb:Query', tableArn))];
    const caller = { ...role(allow(['dynamodb:Query', 'dynamodb:PutItem'], '*')), sessionPolicies };
    expect(isAllowed(caller, query('a'), [])).toBe(true);
    expect(isAllowed(caller, access('dynamodb:PutItem', tableArn), [])).toBe(false);
    const powerless = { ...role(), sessionPolicies };
    expect(isAllowed(powerless, query('a'), [])).toBe(false);
  });
});

describe('a condition on leading keys', () => {
  const keys = (operator: string, ...values: readonly string[]) => ({
    [operator]: { 'dynamodb:LeadingKeys': values },
  });
  const reader = (condition: JsonObject) => role(allow('dynamodb:Query', tableArn, condition));

  test('holds if every key of the request is one of them', () => {
    const caller = reader(keys('ForAllValues:StringEquals', 'a', 'b'));
    expect(isAllowed(caller, query('a', 'b'), [])).toBe(true);
    expect(isAllowed(caller, query('a', 'c'), [])).toBe(false);
  });

  test('holds for a request without keys, unless Null asks for one', () => {
    const condition = keys('ForAllValues:StringEquals', 'a');
    const withoutKeys = access('dynamodb:Query', tableArn);
    expect(isAllowed(reader(condition), withoutKeys, [])).toBe(true);
    const strict = { ...condition, Null: { 'dynamodb:LeadingKeys': 'false' } };
    expect(isAllowed(reader(strict), withoutKeys, [])).toBe(false);
  });

  test('means wildcards and variables only where IAM does', () => {
    const equals = reader(keys('ForAllValues:StringEquals', 'a*'));
    expect(isAllowed(equals, query('a*'), [])).toBe(true);
    expect(isAllowed(equals, query('ab'), [])).toBe(false);
    const like = reader(keys('ForAllValues:StringLike', `a${variable('*')}*`));
    expect(isAllowed(like, query('a*b'), [])).toBe(true);
    expect(isAllowed(like, query('abb'), [])).toBe(false);
    const own = reader(keys('ForAllValues:StringEquals', variable('aws:userid')));
    expect(isAllowed(own, query(variable('aws:userid')), [])).toBe(false);
    const mine = access('dynamodb:Query', tableArn, {
      'dynamodb:leadingkeys': ['me'],
      'aws:userid': ['me'],
    });
    expect(isAllowed(own, mine, [])).toBe(true);
  });

  test('in the session policy of a job lets in its partition and no other', () => {
    const special = fc.constantFrom(
      variable('aws:userid'),
      variable('*'),
      variable('$'),
      '*',
      '?',
      '$',
      '{',
      '}',
      '\n',
      'é',
      '中',
    );
    const text = fc
      .array(fc.oneof(special, fc.string({ maxLength: 5 })), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join('').toWellFormed() || 'x');
    fc.assert(
      fc.property(text, text, (own, other) => {
        const document = JSON.parse(sessionPolicy({ tableArn, value: { S: own } })) as Json;
        const sessionPolicies = [parsePolicy(document, 'session')];
        const caller = { ...role(allow('dynamodb:*', '*')), sessionPolicies };
        expect(isAllowed(caller, query(own), [])).toBe(true);
        expect(isAllowed(caller, query(other), [])).toBe(own === other);
      }),
    );
  });
});

describe('the policy of a queue', () => {
  const queueArn = `arn:aws:sqs:eu-west-1:${account}:jobs`;
  const ruleArn = `arn:aws:events:eu-west-1:${account}:rule/bus/jobs`;
  const send = (source: string) =>
    access('sqs:SendMessage', queueArn, { 'aws:sourcearn': [source] });
  const events: Caller = { type: 'service', service: 'events.amazonaws.com' };
  const forRule = policy({
    ...allow('sqs:SendMessage', queueArn, { ArnEquals: { 'aws:SourceArn': ruleArn } }),
    Principal: { Service: 'events.amazonaws.com' },
  });

  test('lets a service in for the resource it names, and for no other', () => {
    expect(isAllowed(events, send(ruleArn), [forRule])).toBe(true);
    expect(isAllowed(events, send(`${ruleArn}-2`), [forRule])).toBe(false);
    expect(
      isAllowed({ type: 'service', service: 'sns.amazonaws.com' }, send(ruleArn), [forRule]),
    ).toBe(false);
    expect(isAllowed(events, send(ruleArn), [])).toBe(false);
  });

  test('that denies what is not over TLS, denies everyone', () => {
    const tlsOnly = policy({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 'sqs:*',
      Resource: queueArn,
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
    const sender = role(allow('sqs:SendMessage', queueArn));
    const over = (tls: string) =>
      access('sqs:SendMessage', queueArn, { 'aws:securetransport': [tls] });
    expect(isAllowed(sender, over('true'), [tlsOnly])).toBe(true);
    expect(isAllowed(sender, over('false'), [tlsOnly])).toBe(false);
  });
});

describe('a trust policy', () => {
  const assume = access('sts:AssumeRole', `arn:aws:iam::${account}:role/scoped`);
  const trusts = (AWS: string) =>
    policy({ Effect: 'Allow', Principal: { AWS }, Action: 'sts:AssumeRole' });
  const granted = role(allow('sts:AssumeRole', '*'));

  test('lets in whom it names, and nobody else, whatever they are granted', () => {
    expect(mayAssume(granted, assume, trusts(roleArn))).toBe(true);
    expect(mayAssume(granted, assume, trusts(`${roleArn}-2`))).toBe(false);
  });

  test('that names the account leaves it to what its roles are granted', () => {
    expect(mayAssume(granted, assume, trusts(`arn:aws:iam::${account}:root`))).toBe(true);
    expect(mayAssume(role(), assume, trusts(`arn:aws:iam::${account}:root`))).toBe(false);
  });
});

describe('what the harness does not know', () => {
  test.each<[string, JsonObject]>([
    ['an operator', { NumericEquals: { 'aws:SourceAccount': '1' } }],
    ['a condition key', { StringEquals: { 'aws:SourceVpc': 'vpc-1' } }],
  ])('is an error: %s', (_, condition) => {
    const caller = role(allow('sqs:*', '*', condition));
    expect(() =>
      isAllowed(
        caller,
        access('sqs:SendMessage', 'arn:aws:sqs:::q', { 'aws:sourceaccount': ['1'] }),
        [],
      ),
    ).toThrow(HarnessGap);
  });

  test('is an error: a statement by exclusion, a policy of the old language', () => {
    expect(() => policy({ Effect: 'Allow', NotAction: 'iam:*', Resource: '*' })).toThrow(
      HarnessGap,
    );
    expect(() => parsePolicy({ Statement: [] }, 'old')).toThrow(HarnessGap);
  });
});
