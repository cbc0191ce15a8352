import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEndpointCheck } from '../../functions/ddbctldpjob/allowed-endpoints.ts';
import { leadingKeysOf } from '../../functions/ddbctldpjob/leading-keys.ts';
import { sessionPolicy } from '../../functions/ddbctldpjob/session-policy.ts';
import type { KeyValue } from '../../functions/ddbctldpjob/table.ts';

const tableArn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders';

interface Statement {
  readonly Action: readonly string[];
  readonly Resource: string;
  readonly Condition: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function read(value: KeyValue, limit?: number) {
  const text = sessionPolicy({ tableArn, value }, limit);
  const { Statement } = JSON.parse(text) as { Statement: readonly Statement[] };
  expect(Statement).toHaveLength(1);
  const { Action, Resource, Condition } = Statement[0] as Statement;
  const { Null, ...conditions } = Condition;
  const [[operator, keys] = ['', {}]] = Object.entries(conditions);
  return {
    text,
    Action,
    Resource,
    Null,
    operator,
    keys: keys['dynamodb:LeadingKeys'] as readonly string[],
  };
}

/** What IAM makes of its variables; anything else in `${}` would be looked up in the request. */
function meaningOf(pattern: string): string {
  return pattern.replace(/\$\{(.*?)\}/gs, (whole, name: string) => {
    if (!['$', '*', '?'].includes(name)) throw new Error(`${whole} is a variable of the request`);
    return name;
  });
}

describe('the policy of a session', () => {
  test('allows reading and deleting in one partition of one table, and requires a key', () => {
    const policy = read({ S: 'customer-42' });
    expect(policy).toMatchObject({
      Action: ['dynamodb:Query', 'dynamodb:BatchWriteItem', 'dynamodb:DeleteItem'],
      Resource: tableArn,
      operator: 'ForAllValues:StringEquals',
      keys: ['customer-42'],
      Null: { 'dynamodb:LeadingKeys': 'false' },
    });
  });

  test('means the value itself, whatever is in it, and fits into what STS takes', () => {
    const hostile = fc.array(
      fc.oneof(fc.constantFrom('${', '}', '$', '*', '?', '"', '\\', '\n', '中', '😀'), fc.string()),
      { minLength: 1, maxLength: 400 },
    );
    fc.assert(
      fc.property(hostile, (parts) => {
        const S = parts.join('').toWellFormed() || 'x';
        const { text, operator, keys } = read({ S });
        expect(text.length).toBeLessThanOrEqual(2048);
        expect(text).toMatch(/^[\x20-\x7e]*$/);
        if (operator === 'ForAllValues:StringEquals') expect(keys.map(meaningOf)).toEqual([S]);
        else {
          const [pattern = ''] = keys;
          expect(pattern.endsWith('*')).toBe(true);
          const prefix = pattern.slice(0, -1);
          expect(prefix.replace(/\$\{[$*?]\}/g, '')).not.toMatch(/[*?]/);
          expect(S.startsWith(meaningOf(prefix))).toBe(true);
          expect(meaningOf(prefix).length).toBeGreaterThan(100);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('covers a long value by as much of its beginning as there is room for', () => {
    const S = 'tenant#'.padEnd(2048, 'x');
    const { text, operator, keys } = read({ S });
    expect(operator).toBe('ForAllValues:StringLike');
    expect(text).toHaveLength(2048);
    expect(keys).toEqual([`${S.slice(0, (keys[0] ?? '').length - 1)}*`]);
    expect(read({ S }, 1024).text.length).toBeLessThanOrEqual(1024);
  });
});

describe('a partition value in IAM', () => {
  test.each([
    ['-1.50e3', '-1500'],
    ['007', '7'],
    ['1E-3', '0.001'],
    ['.5', '0.5'],
    ['+12', '12'],
    ['-0', '0'],
  ])('the number %s is also written %s', (N, plain) => {
    expect(leadingKeysOf({ N })).toEqual([N, plain]);
  });

  test('a number in plain notation is written once, bytes in base64', () => {
    expect(leadingKeysOf({ N: '42' })).toEqual(['42']);
    expect(leadingKeysOf({ B: new Uint8Array([1, 2, 255]) })).toEqual(['AQL/']);
  });
});

describe('the endpoint in a spec', () => {
  test.each([
    [undefined, undefined],
    ['*', 'http://127.0.0.1:9001'],
    ['https://a.example,https://b.example', 'https://b.example/path'],
    ['http://dynamo:8000', 'http://dynamo:8000'],
  ])('with %s allowed, %s is accepted', (allowed, endpoint) => {
    expect(() => createEndpointCheck(allowed)(endpoint)).not.toThrow();
  });

  test.each([
    [undefined, 'http://169.254.170.2/v2/credentials', 'must be empty'],
    ['https://a.example', 'http://a.example', 'https://a.example'],
    ['https://a.example', 'https://a.example:8443', 'https://a.example'],
    ['https://a.example', 'https://a.example.evil.example', 'https://a.example'],
  ])('with %s allowed, fails for %s and says what is allowed', (allowed, endpoint, expected) => {
    expect(() => createEndpointCheck(allowed)(endpoint)).toThrow(expected);
  });
});
