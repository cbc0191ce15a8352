import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../deployed/cloud/template/json.ts';
import { createStack } from '../deployed/cloud/template/stack.ts';
import { parseTemplate } from '../deployed/cloud/template/template.ts';

const place = {
  region: 'eu-west-1',
  account: '111122223333',
  stackName: 'Podless',
  frontUrl: 'http://127.0.0.1:1',
};

/** As Fn::Sub writes it. */
const variable = (name: string): string => `\${${name}}`;

const queue = (properties: JsonObject): JsonObject => ({
  Type: 'AWS::SQS::Queue',
  Properties: properties,
});

/** A stack of these resources, and of what else is given. */
const stackOf = (resources: JsonObject, rest: JsonObject = {}) =>
  createStack(parseTemplate({ Resources: resources, ...rest }), place);

/** What a queue's QueueName, which may be any function, comes out as. */
const nameOf = (name: JsonObject | string, rest: JsonObject = {}): string | undefined =>
  stackOf({ Other: queue({ QueueName: 'other' }), Tested: queue({ QueueName: name }) }, rest)
    .ofType('AWS::SQS::Queue')
    .find(({ logicalId }) => logicalId === 'Tested')?.name;

describe('a value in a template', () => {
  test.each<[string, JsonObject, string]>([
    ['Ref of a pseudo parameter', { Ref: 'AWS::Region' }, 'eu-west-1'],
    ['GetAtt of a resource', { 'Fn::GetAtt': ['Other', 'QueueName'] }, 'other'],
    ['Join', { 'Fn::Join': ['-', ['a', { Ref: 'AWS::AccountId' }]] }, 'a-111122223333'],
    [
      'Sub',
      { 'Fn::Sub': `x-${variable('AWS::Partition')}-${variable('Other.QueueName')}` },
      'x-aws-other',
    ],
    [
      'Sub with its own variables',
      { 'Fn::Sub': [`${variable('a')}-b`, { a: { Ref: 'P' } }] },
      'given-b',
    ],
    ['Select of Split', { 'Fn::Select': [1, { 'Fn::Split': ['.', 'a.b.c'] }] }, 'b'],
    ['If', { 'Fn::If': ['IsIreland', 'yes', 'no'] }, 'yes'],
  ])('may be %s', (_, value, expected) => {
    const Conditions = { IsIreland: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'eu-west-1'] } };
    const Parameters = { P: { Type: 'String', Default: 'given' } };
    expect(nameOf(value, { Conditions, Parameters })).toBe(expected);
  });

  test('that is AWS::NoValue is as if it were not there, so the resource gets a name made for it', () => {
    expect(nameOf({ Ref: 'AWS::NoValue' })).toMatch(/^Podless-Tested-[0-9A-F]{12}$/);
  });

  test.each<[string, JsonObject, RegExp]>([
    ['a function', { 'Fn::ImportValue': 'x' }, /does not know Fn::ImportValue at Tested.QueueName/],
    ['a resource', { Ref: 'Nobody' }, /no resource Nobody/],
    ['an attribute', { 'Fn::GetAtt': ['Other', 'Colour'] }, /attribute Colour of Other/],
    ['a condition', { 'Fn::If': ['Never', 'a', 'b'] }, /condition Never/],
  ])('is refused if it needs %s that is not known', (_, value, message) => {
    expect(() => nameOf(value)).toThrow(message);
  });

  test('cannot need itself', () => {
    expect(() => nameOf({ Ref: 'Tested' })).toThrow(/needs itself/);
  });
});

describe('a template', () => {
  test('is refused for a property that the harness does not know, also deep inside', () => {
    const unknown = { QueueName: 'q', RedrivePolicy: { maxReceiveCount: 3, colour: 'red' } };
    expect(() => stackOf({ Q: queue(unknown) })).toThrow(
      'does not know property RedrivePolicy.colour of type AWS::SQS::Queue (Q)',
    );
  });

  test('is refused for a type that the harness does not know', () => {
    expect(() => stackOf({ B: { Type: 'AWS::S3::Bucket' } })).toThrow('AWS::S3::Bucket of B');
  });

  test('is refused for an attribute of a resource or a section that the harness does not know', () => {
    expect(() => stackOf({ Q: { ...queue({}), CreationPolicy: {} } })).toThrow('CreationPolicy');
    expect(() => stackOf({}, { Transform: 'x' })).toThrow('section Transform');
  });

  test('may hold alarms, whose properties are not looked at', () => {
    const alarm = { Type: 'AWS::CloudWatch::Alarm', Properties: { A: { 'Fn::Strange': 1 } } };
    expect(stackOf({ Alarm: alarm }).ofType('AWS::CloudWatch::Alarm')).toEqual([]);
  });

  test.each([
    ['AWS::SQS::Queue', 'QueueName', 80],
    ['AWS::Lambda::Function', 'FunctionName', 64],
    ['AWS::Events::Rule', 'Name', 64],
    ['AWS::Pipes::Pipe', 'Name', 64],
    ['AWS::Scheduler::Schedule', 'Name', 64],
  ])('is refused for a name of %s that AWS would refuse', (type, property, max) => {
    const named = (length: number) =>
      stackOf({ R: { Type: type, Properties: { [property]: 'n'.repeat(length) } } });
    expect(named(max).ofType(type)).toHaveLength(1);
    expect(() => named(max + 1)).toThrow(`allows ${max} characters`);
  });

  test('gives a layer the ARN of its first version', () => {
    const layer = { Type: 'AWS::Lambda::LayerVersion', Properties: { LayerName: 'tools' } };
    expect(() => stackOf({ Layer: layer })).toThrow('does not know property LayerName');
    const { outputs } = stackOf(
      { Layer: { ...layer, Properties: { Content: { S3Key: 'k' } } } },
      { Outputs: { Arn: { Value: { Ref: 'Layer' } } } },
    );
    expect(outputs['Arn']).toMatch(
      /^arn:aws:lambda:eu-west-1:111122223333:layer:Podless-Layer-[0-9A-F]{12}:1$/,
    );
  });

  test('leaves out a resource whose condition does not hold', () => {
    const Conditions = { Never: { 'Fn::Not': [{ 'Fn::Equals': ['a', 'a'] }] } };
    const stack = stackOf({ Q: { ...queue({}), Condition: 'Never' } }, { Conditions });
    expect(stack.ofType('AWS::SQS::Queue')).toEqual([]);
  });

  test('gives a queue the address of the front, and outputs their values', () => {
    const Outputs = { Url: { Value: { Ref: 'Q' } } };
    const { outputs } = stackOf({ Q: queue({ QueueName: 'jobs' }) }, { Outputs });
    expect(outputs).toEqual({ Url: 'http://127.0.0.1:1/111122223333/jobs' });
  });
});
