import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JobSpec, parseSpec } from '../../functions/ddbctldpjob/spec.ts';

const flat = { tableName: 'orders', partitionValue: 'customer-42' };
const target = { ...flat, awsRegion: 'us-east-1', dryRun: false };

const problemOf = (spec: unknown): string => {
  const parsed = parseSpec(spec);
  return parsed.ok ? `none: ${JSON.stringify(parsed.value)}` : parsed.problem;
};

/** A string of the characters that `pattern` allows. */
const textOf = (characters: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...characters.split('')), minLength, maxLength });
const letters = 'abcdefghijklmnopqrstuvwxyz';
const endpointURL = fc
  .record({
    scheme: fc.constantFrom('http', 'https'),
    host: fc.oneof(fc.domain(), fc.ipV4(), fc.constant('[::1]')),
    port: fc.option(fc.integer({ min: 1, max: 65_535 })),
    path: fc.constantFrom('', '/', '/dynamodb', '/a/b/'),
  })
  .map(
    ({ scheme, host, port, path }) =>
      `${scheme}://${host}${port === null ? '' : `:${port}`}${path}`,
  );
const fields = fc.record(
  {
    tableName: textOf(`${letters}${letters.toUpperCase()}0123456789_.-`, 3, 255),
    partitionValue: fc.string({ unit: 'binary', minLength: 1, maxLength: 4096 }),
    awsRegion: textOf(`${letters}0123456789`, 1, 63),
    endpointURL,
  },
  { requiredKeys: ['tableName', 'partitionValue'] },
);
const options = fc.record(
  {
    dryRun: fc.boolean(),
    suspend: fc.boolean(),
    maxItems: fc.nat(),
    maxWriteUnitsPerSecond: fc.integer({ min: 1 }),
    ttlSecondsAfterFinished: fc.nat(),
  },
  { requiredKeys: [] },
);

function expected(
  { dryRun = false, suspend = false, ...limits }: Partial<JobSpec> & { dryRun?: boolean },
  where: object,
) {
  return { target: { awsRegion: 'us-east-1', ...where, dryRun }, suspend, ...limits };
}

describe('the spec of a job', () => {
  test('fills in what the manifests in use leave out', () => {
    expect(parseSpec(flat)).toEqual({ ok: true, value: { target, suspend: false } });
    expect(parseSpec({ ddbCtlDpJob: flat })).toEqual(parseSpec(flat));
    expect(parseSpec({ ...flat, endpointURL: '' })).toEqual(parseSpec(flat));
  });

  test('takes options from either place where the shape is the nested one', () => {
    const value = { target: { ...target, dryRun: true }, suspend: true, maxItems: 5 };
    expect(
      parseSpec({ ddbCtlDpJob: { ...flat, dryRun: true, suspend: true, maxItems: 5 } }),
    ).toEqual({ ok: true, value });
    expect(parseSpec({ dryRun: true, suspend: true, maxItems: 5, ddbCtlDpJob: flat })).toEqual({
      ok: true,
      value,
    });
  });

  test('is read for whatever it says, in both shapes', () => {
    fc.assert(
      fc.property(fields, options, (where, how) => {
        const value = expected(how, where);
        expect(parseSpec({ ...where, ...how })).toEqual({ ok: true, value });
        expect(parseSpec({ ddbCtlDpJob: { ...where, ...how } })).toEqual({ ok: true, value });
        expect(parseSpec({ ...how, ddbCtlDpJob: where })).toEqual({ ok: true, value });
      }),
    );
  });

  test('is answered with a problem in words, whatever JSON it is', () => {
    const names = [
      ...Object.keys(flat),
      'awsRegion',
      'endpointURL',
      'dryRun',
      'maxItems',
      'suspend',
    ];
    const half = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
    const any = fc.oneof(
      fc.jsonValue(),
      half,
      fc.record({ ddbCtlDpJob: fc.oneof(fc.jsonValue(), half) }),
      fc.record({
        tableName: fc.constant('orders'),
        partitionValue: fc.jsonValue(),
        ddbCtlDpJob: half,
      }),
    );
    fc.assert(
      fc.property(any, (spec) => {
        const parsed = parseSpec(spec);
        if (parsed.ok) return;
        expect(parsed.problem).toMatch(/^spec/);
        expect(parsed.problem.length).toBeLessThan(400);
        expect(parsed.problem.isWellFormed()).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    [undefined, 'spec must be an object, got nothing'],
    [null, 'spec must be an object, got null'],
    [[1, 2], 'spec must be an object, got [1,2]'],
    [
      {},
      'spec.tableName must be a table name of 3 to 255 letters, digits, "_", "." or "-", got nothing',
    ],
    [
      { ...flat, tableName: 5 },
      'spec.tableName must be a table name of 3 to 255 letters, digits, "_", "." or "-", got 5',
    ],
    [{ ...flat, tableName: '../etc' }, '"../etc"'],
    [
      { tableName: 'orders' },
      'spec.partitionValue must be a string of 1 to 4096 characters, got nothing',
    ],
    [
      { ...flat, partitionValue: '' },
      'spec.partitionValue must be a string of 1 to 4096 characters, got ""',
    ],
    [{ ...flat, partitionValue: 42 }, 'got 42'],
    [
      { ...flat, awsRegion: 'US East' },
      'spec.awsRegion must be the name of an AWS region such as us-east-1, got "US East"',
    ],
    [{ ...flat, dryRun: 'yes' }, 'spec.dryRun must be true or false, got "yes"'],
    [{ ...flat, suspend: 1 }, 'spec.suspend must be true or false, got 1'],
    [{ ...flat, maxItems: -1 }, 'spec.maxItems must be a whole number of at least 0, got -1'],
    [{ ...flat, maxItems: 1.5 }, 'got 1.5'],
    [
      { ...flat, maxWriteUnitsPerSecond: 0 },
      'spec.maxWriteUnitsPerSecond must be a whole number of at least 1, got 0',
    ],
    [
      { ...flat, ttlSecondsAfterFinished: '9' },
      'spec.ttlSecondsAfterFinished must be a whole number of at least 0, got "9"',
    ],
    [{ ddbCtlDpJob: null }, 'spec.ddbCtlDpJob must be an object, got null'],
    [{ ddbCtlDpJob: { ...flat, tableName: 'a' } }, 'spec.ddbCtlDpJob.tableName must be'],
    [{ ddbCtlDpJob: { ...flat, maxItems: 'many' } }, 'spec.ddbCtlDpJob.maxItems must be'],
    [{ ddbCtlDpJob: flat, maxItems: 'many' }, 'spec.maxItems must be'],
    [{ ddbCtlDpJob: flat, dryRun: 'yes' }, 'spec.dryRun must be'],
    [
      { ddbCtlDpJob: flat, awsRegion: 'eu-west-1' },
      'spec.ddbCtlDpJob and spec.awsRegion exclude each other',
    ],
  ])('says what is wrong with %j', (spec, problem) => {
    expect(problemOf(spec)).toContain(problem);
  });

  test.each([
    'http://aws-dynamhttp://dynamodb.local:8000',
    'dynamodb.local:8000',
    'ftp://dynamodb.local',
    'http://a b',
    'http://dynamodb.local:99999',
    'http://300.1.1.1',
    'http://[::1',
    'http://host/?query=1',
    'http://host/#fragment',
    'http://',
    7,
  ])('names endpointURL and its value %j if that is not a URL', (endpointURL) => {
    const problem = problemOf({ ...flat, endpointURL });
    expect(problem).toContain('spec.endpointURL must be a URL of the form http(s)://host[:port]');
    expect(problem).toContain(JSON.stringify(endpointURL));
  });

  test('does not repeat credentials', () => {
    for (const endpointURL of [
      'http://user:hunter2@host',
      ['http://user:hunter2@host'],
      '@hunter2',
    ]) {
      const problem = problemOf({ ...flat, endpointURL });
      expect(problem).toContain('spec.endpointURL must not hold credentials');
      expect(problem).not.toContain('hunter2');
    }
  });

  test('shows only the beginning of a long value, and no half characters', () => {
    const problem = problemOf({ ...flat, tableName: `${'x'.repeat(198)}${'💥'.repeat(50_000)}` });
    expect(problem.length).toBeLessThan(400);
    expect(problem.isWellFormed()).toBe(true);
    expect(problem).toContain('… (100200 characters)');
  });

  test('counts characters as the API server does', () => {
    expect(parseSpec({ ...flat, partitionValue: '💥'.repeat(4_096) }).ok).toBe(true);
    expect(parseSpec({ ...flat, partitionValue: '💥'.repeat(4_097) }).ok).toBe(false);
  });
});
