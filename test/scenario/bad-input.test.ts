import '../helpers/dynamodb-credentials.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KubeApiError } from '../../runtime/kube/client.ts';
import { storeWithoutRules } from '../helpers/job-crd.ts';
import { closedPort, type Gate, startGate } from '../helpers/job-gate.ts';
import { createNames, type JobSystem, startJobSystem } from '../helpers/job-system.ts';
import { type JobState, readyOf } from '../helpers/system.ts';
import { until } from '../helpers/until.ts';

const isCompleted = ({ phase }: JobState): boolean => phase === 'Completed';
const isReason = (reason: string) => (status: JobState) => readyOf(status)?.reason === reason;
const newName = createNames('bad');

let system: JobSystem;
beforeAll(async () => {
  system = await startJobSystem();
});
afterAll(() => system?.stop());

/** What is bad must not keep what is good from being done. */
async function goodJobCompletes(): Promise<void> {
  const name = newName();
  await system.partitions.fill(name, { mine: 10 });
  await system.createJob(name, { tableName: name, partitionValue: 'mine' });
  expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 10 });
}

const versionOf = async (name: string) => (await system.getJob(name))?.metadata.resourceVersion;

describe('a world that is not ready', () => {
  test('a missing table is named, and the job is done by itself when the table appears', async () => {
    const name = newName();
    await system.createJob(name, { tableName: name, partitionValue: 'mine' });
    const waiting = await system.jobReaches(name, isReason('TableNotFound'), 10);
    expect(waiting).toMatchObject({
      phase: 'Pending',
      message: `table "${name}" in us-east-1 does not exist`,
    });
    expect(readyOf(waiting)).toMatchObject({ status: 'False', message: waiting.message });
    expect(waiting).not.toHaveProperty('startTime');
    expect((await system.eventsReach(name, 1)).map(({ type, reason }) => [type, reason])).toEqual([
      ['Warning', 'TableNotFound'],
    ]);

    await system.partitions.fill(name, { mine: 15 });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 15 });
    expect(await system.partitions.left(name, 'mine')).toBe(0);
  });

  test('a missing right is named, and the job is done by itself when it is granted', async () => {
    const name = newName();
    const message = 'User: arn:aws:sts::1:assumed-role/x is not authorized to perform this';
    let granted = false;
    const gate = await startGate(system.dynamodb, ({ operation }) =>
      granted || operation === 'DescribeTable'
        ? undefined
        : { type: 'AccessDeniedException', message },
    );
    await system.partitions.fill(name, { mine: 15 });
    const spec = { tableName: name, partitionValue: 'mine', endpointURL: gate.url };
    await system.createJob(name, spec);
    const denied = await system.jobReaches(name, isReason('AccessDenied'), 10);
    expect(denied.phase).toBe('Pending');
    expect(denied.message).toContain(`Query on table "${name}" in us-east-1`);
    expect(denied.message).toContain(message);
    expect(await system.partitions.left(name, 'mine')).toBe(15);

    granted = true;
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 15 });
    await gate.stop();
  });

  test('a right that is missing only for deleting leaves every item, and says so', async () => {
    const name = newName();
    const message = 'not authorized to perform: dynamodb:BatchWriteItem';
    const gate = await startGate(system.dynamodb, ({ operation }) =>
      operation === 'BatchWriteItem' ? { type: 'AccessDeniedException', message } : undefined,
    );
    await system.partitions.fill(name, { mine: 60 });
    const spec = { tableName: name, partitionValue: 'mine', endpointURL: gate.url };
    await system.createJob(name, spec);
    const denied = await system.jobReaches(name, isReason('AccessDenied'), 10);
    expect(denied).toMatchObject({ phase: 'Pending', deletedItems: 0 });
    expect(denied).not.toHaveProperty('run');
    expect(denied).not.toHaveProperty('deletedItemsExact');
    expect(denied.message).toContain(message);
    expect(await system.partitions.left(name, 'mine')).toBe(60);
    await system.deleteJob(name);
    await gate.stop();
  });

  describe('in the wrong region', () => {
    let gate: Gate;
    beforeAll(async () => {
      gate = await startGate(system.dynamodb, ({ region }) =>
        region === 'eu-west-1'
          ? undefined
          : { type: 'ResourceNotFoundException', message: 'Requested resource not found' },
      );
    });
    afterAll(() => gate?.stop());

    test('the table is missing there, the region is named, and a change of it heals', async () => {
      const name = newName();
      await system.partitions.fill(name, { mine: 15 });
      const spec = { tableName: name, partitionValue: 'mine', endpointURL: gate.url };
      await system.createJob(name, spec);
      const waiting = await system.jobReaches(name, isReason('TableNotFound'), 10);
      expect(waiting.message).toContain(`table "${name}" in us-east-1 at 127.0.0.1:`);
      await system.patchJob(name, { spec: { awsRegion: 'eu-west-1' } });
      expect(await system.jobReaches(name, isCompleted, 10)).toMatchObject({
        deletedItems: 15,
        target: { awsRegion: 'eu-west-1' },
      });
    });
  });

  test('an endpoint that nobody listens on is named', async () => {
    const name = newName();
    const endpointURL = await closedPort();
    await system.createJob(name, { tableName: 'orders', partitionValue: 'mine', endpointURL });
    const status = await system.jobReaches(name, isReason('EndpointUnreachable'), 20);
    expect(status.phase).toBe('Pending');
    expect(status.message).toContain(endpointURL.replace('http://', ''));
    expect(status.message).toContain('ECONNREFUSED');
    await system.deleteJob(name);
  });

  test('a host that does not exist is named', async () => {
    const name = newName();
    const endpointURL = 'http://no-such-host.invalid:8000';
    await system.createJob(name, { tableName: 'orders', partitionValue: 'mine', endpointURL });
    const status = await system.jobReaches(name, isReason('EndpointUnreachable'), 30);
    expect(status.message).toContain('no-such-host.invalid');
    await system.deleteJob(name);
  });
});

describe('at admission', () => {
  const flat = { tableName: 'orders', partitionValue: 'customer-42' };
  const refusalOf = async (body: object): Promise<string> => {
    try {
      await system.admin.create(system.ref('x').kind, 'default', {
        metadata: { name: newName() },
        ...body,
      });
    } catch (error) {
      if (error instanceof KubeApiError && error.status === 422) return error.message;
      throw error;
    }
    return 'admitted';
  };

  const endpoints = [
    'http://aws-dynamhttp://dynamodb.local:8000',
    'dynamodb.local:8000',
    'ftp://dynamodb.local',
    'http://a b',
    'file:///etc/passwd',
    'http://host?query',
    'http://',
  ];
  test.each(endpoints)('endpointURL %j is refused by field and value', async (endpointURL) => {
    const shapes = [
      { spec: { ...flat, endpointURL }, field: 'spec.endpointURL' },
      { spec: { ddbCtlDpJob: { ...flat, endpointURL } }, field: 'spec.ddbCtlDpJob.endpointURL' },
    ];
    for (const { spec, field } of shapes) {
      const refusal = await refusalOf({ spec });
      expect(refusal).toContain(field);
      expect(refusal).toContain(`must be http(s)://host[:port], got "${endpointURL}"`);
    }
  });

  test('the sample in circulation is refused by field and value', async () => {
    const refusal = await refusalOf({
      metadata: { name: 'ddbctldpjob-sample' },
      spec: {
        awsRegion: 'us-east-1',
        endpointURL: 'http://aws-dynamhttp://dynamodb.local:8000',
        partitionValue: 'partition-key-value',
        tableName: 'my-dynamodb-table',
      },
    });
    expect(refusal).toContain('spec.endpointURL');
    expect(refusal).toContain('got "http://aws-dynamhttp://dynamodb.local:8000"');
    expect(await system.getJob('ddbctldpjob-sample')).toBeUndefined();
  });

  test('credentials in endpointURL are refused and not repeated', async () => {
    const endpointURL = 'http://user:hunter2@host';
    const shapes = {
      spec: { ...flat, endpointURL },
      'spec.ddbCtlDpJob': { ddbCtlDpJob: { ...flat, endpointURL } },
    };
    for (const [path, spec] of Object.entries(shapes)) {
      const refusal = await refusalOf({ spec });
      expect(refusal).toContain(`${path}.endpointURL must not hold credentials`);
      expect(refusal).not.toContain('hunter2');
    }
  });

  const once = (field: string, value: unknown) => ({
    [field]: value,
    ddbCtlDpJob: { ...flat, [field]: value },
  });
  const refused: readonly [string, object, readonly string[]][] = [
    [
      'both shapes',
      { ...flat, ddbCtlDpJob: flat },
      ['spec.ddbCtlDpJob and the flat fields', 'remove one of the two'],
    ],
    [
      'a region beside the nested shape',
      { awsRegion: 'eu-west-1', ddbCtlDpJob: flat },
      ['exclude each other'],
    ],
    [
      'neither shape',
      {},
      [
        'tableName and partitionValue are required: set both under spec, or both under spec.ddbCtlDpJob',
      ],
    ],
    ['no partitionValue', { tableName: 'orders' }, ['tableName and partitionValue are required']],
    ['no tableName', { partitionValue: 'x' }, ['tableName and partitionValue are required']],
    [
      'a nested shape that is empty',
      { ddbCtlDpJob: {} },
      ['spec.ddbCtlDpJob.tableName', 'spec.ddbCtlDpJob.partitionValue'],
    ],
    ['a short tableName', { ...flat, tableName: 'ab' }, ['spec.tableName', '"ab"']],
    [
      'a tableName that is a path',
      { ...flat, tableName: '../../etc' },
      ['spec.tableName', '"../../etc"'],
    ],
    [
      'a tableName that is an ARN',
      { ...flat, tableName: 'arn:aws:dynamodb:x' },
      ['spec.tableName', 'arn:aws:dynamodb:x'],
    ],
    [
      'an empty partitionValue',
      { ...flat, partitionValue: '' },
      ['spec.partitionValue', 'at least 1'],
    ],
    [
      'a partitionValue of 5,000 characters',
      { ...flat, partitionValue: 'x'.repeat(5_000) },
      ['spec.partitionValue', '4096'],
    ],
    [
      'a number as partitionValue',
      { ...flat, partitionValue: 42 },
      ['spec.partitionValue', 'must be of type string'],
    ],
    ['a region in words', { ...flat, awsRegion: 'US East' }, ['spec.awsRegion', '"US East"']],
    ['a negative maxItems', { ...flat, maxItems: -1 }, ['spec.maxItems', '-1']],
    [
      'a maxItems in words',
      { ...flat, maxItems: 'ten' },
      ['spec.maxItems', 'must be of type integer'],
    ],
    [
      'a write limit of 0',
      { ...flat, maxWriteUnitsPerSecond: 0 },
      ['spec.maxWriteUnitsPerSecond', '0'],
    ],
    [
      'a negative time to live',
      { ...flat, ttlSecondsAfterFinished: -1 },
      ['spec.ttlSecondsAfterFinished', '-1'],
    ],
    ['a dryRun in words', { ...flat, dryRun: 'yes' }, ['spec.dryRun', 'must be of type boolean']],
    ['dryRun twice', once('dryRun', true), ['set dryRun once']],
    ['suspend twice', once('suspend', true), ['set suspend once']],
    ['maxItems twice', once('maxItems', 1), ['set maxItems once']],
  ];
  test.each(refused)(
    '%s is refused with a message that says what to do',
    async (_what, spec, parts) => {
      const refusal = await refusalOf({ spec });
      for (const part of parts) expect(refusal).toContain(part);
    },
  );

  test('a job without a spec is refused', async () => {
    expect(await refusalOf({})).toContain('spec: Required value');
  });

  test('a change is held to the same rules', async () => {
    const name = newName();
    await system.createJob(name, { ...flat, suspend: true });
    const change = system.patchJob(name, { spec: { ddbCtlDpJob: flat } });
    await expect(change).rejects.toThrow('exclude each other');
    await system.deleteJob(name);
  });

  test.each([
    'http://dynamodb.local:8000',
    'https://vpce-1.dynamodb.us-east-1.vpce.amazonaws.com',
    'http://[::1]:8000',
    'http://10.0.0.1/path/',
    '',
  ])('endpointURL %j is admitted', async (endpointURL) => {
    const name = newName();
    await system.createJob(name, { ...flat, endpointURL, suspend: true });
    await system.jobReaches(name, ({ phase }) => phase === 'Suspended');
    await system.deleteJob(name);
  });

  test('an endpointURL that only looks like one is told within seconds and not tried again', async () => {
    const name = newName();
    await system.createJob(name, { ...flat, endpointURL: 'http://dynamodb.local:99999' });
    const status = await system.jobReaches(name, isReason('InvalidSpec'), 5);
    expect(status).toMatchObject({ phase: 'Failed' });
    expect(status.message).toContain('spec.endpointURL');
    expect(status.message).toContain('"http://dynamodb.local:99999"');
    const looks = system.reconcilesOf(name).length;
    await system.staysAsItIs(name, 3);
    expect(system.reconcilesOf(name)).toHaveLength(looks);
  });
});

describe('a partitionValue that the table cannot have', () => {
  const cases = [
    { type: 'N', bad: 'abc', good: '42', item: { id: { N: '42' } } },
    { type: 'B', bad: 'not base64!', good: 'AAEC', item: { id: { B: Uint8Array.of(0, 1, 2) } } },
  ] as const;
  test.each(cases)(
    'is told by field, value and key type $type, not tried again, and healed by a change',
    async ({ type, bad, good, item }) => {
      const name = newName();
      await system.partitions.create(name, { partitionKey: { name: 'id', type } });
      await system.partitions.tables.put(name, [item]);
      await system.createJob(name, { tableName: name, partitionValue: bad });

      const failed = await system.jobReaches(name, isReason('InvalidSpec'), 10);
      expect(failed.phase).toBe('Failed');
      expect(failed.message).toContain('spec.partitionValue');
      expect(failed.message).toContain(JSON.stringify(bad));
      expect(failed.message).toContain(`has type ${type}`);
      expect(readyOf(failed)).toMatchObject({ status: 'False', message: failed.message });

      const looks = system.reconcilesOf(name).length;
      const version = await versionOf(name);
      await system.staysAsItIs(name, 3);
      expect(system.reconcilesOf(name)).toHaveLength(looks);
      await system.resync(name);
      expect(await versionOf(name)).toBe(version);

      await system.patchJob(name, { spec: { partitionValue: good } });
      expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 1 });
    },
  );
});

describe('objects that were stored before the CRD had its rules', () => {
  const long = 'x'.repeat(100_000);
  const good = { tableName: 'orders', partitionValue: 'x' };
  /** What is stored, and what the condition says of it. */
  const stored: Readonly<Record<string, readonly [spec: unknown, problem: string]>> = {
    'old-no-spec': [undefined, 'spec must be an object, got nothing'],
    'old-empty': [{}, 'spec.tableName must be'],
    'old-short': [{ ...good, tableName: 'a' }, 'got "a"'],
    'old-url': [{ ...good, endpointURL: 'http://a b' }, 'got "http://a b"'],
    'old-credentials': [
      { ...good, endpointURL: 'http://u:hunter2@h' },
      'must not hold credentials',
    ],
    'old-both': [{ ...good, ddbCtlDpJob: good }, 'exclude each other'],
    'old-long-table': [{ ...good, tableName: long }, 'spec.tableName must be'],
    'old-long-value': [{ ...good, partitionValue: long }, 'spec.partitionValue must be'],
    'old-long-region': [{ ...good, awsRegion: long }, 'spec.awsRegion must be'],
    'old-negative': [{ ...good, maxItems: -5 }, 'spec.maxItems must be'],
    'old-number': [{ ...good, tableName: 5 }, 'spec.tableName must be'],
    'old-list': [{ tableName: [1, 2], partitionValue: [3] }, 'spec.tableName must be'],
    'old-flag': [{ ...good, dryRun: 'yes' }, 'spec.dryRun must be'],
    'old-fraction': [{ ...good, maxItems: 1.5 }, 'spec.maxItems must be'],
    'old-nested': [{ ddbCtlDpJob: [good] }, 'spec.ddbCtlDpJob must be an object'],
  };

  /** The API server takes no status for an object whose spec has fields of wrong types: then there is an Event. */
  const toldOf = (name: string): Promise<string> =>
    until(
      async () => {
        const status = await system.jobStatus(name);
        if (isReason('InvalidSpec')(status)) return status.message;
        return (await system.eventsOf(name)).find(({ reason }) => reason === 'InvalidSpec')?.note;
      },
      { seconds: 60, what: async () => `a word on ${name}` },
    );

  test('each is told what is wrong with it, and costs only itself', async () => {
    const specs = Object.entries(stored).map(([name, [spec]]) => [name, spec] as const);
    await storeWithoutRules(system.admin, Object.fromEntries(specs));
    await goodJobCompletes();
    for (const [name, [, problem]] of Object.entries(stored)) {
      const told = await toldOf(name);
      expect(told).toContain(problem);
      expect(told).not.toContain('hunter2');
      expect(told.length).toBeLessThan(500);
    }
    await system.resync('old-empty');
    await goodJobCompletes();
  });

  test('each can be mended', async () => {
    for (const name of ['old-short', 'old-number', 'old-no-spec']) {
      await system.partitions.fill(name, { mine: 3 });
      await system.patchJob(name, { spec: { tableName: name, partitionValue: 'mine' } });
      expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 3 });
    }
  });
});

describe('names', () => {
  test('of 253 characters are served like others', async () => {
    const table = newName();
    const name = `${'a'.repeat(200)}.${'b'.repeat(52)}`;
    await system.partitions.fill(table, { mine: 12 });
    await system.createJob(name, { tableName: table, partitionValue: 'mine' });
    expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 12 });
    const events = await system.eventsReach(name, 2);
    expect(events.map(({ reason }) => reason)).toEqual(['Deleting', 'Completed']);
    expect((await system.reconcileByHand(name)).payload).toMatchObject({ outcome: 'done' });
  });

  test('of partitions are taken as they are', async () => {
    const table = newName();
    const values = [
      'a b',
      ' leading',
      "'; DROP TABLE x; --",
      '{{x}} %s $x',
      '\u0000',
      '💥',
      '..',
      'x'.repeat(2_048),
    ];
    await system.partitions.fill(table, Object.fromEntries(values.map((value) => [value, 3])));
    for (const [index, partitionValue] of values.entries()) {
      const name = `${table}-${index}`;
      await system.createJob(name, { tableName: table, partitionValue });
      expect(await system.jobReaches(name, isCompleted)).toMatchObject({ deletedItems: 3 });
      expect(await system.partitions.left(table, partitionValue)).toBe(0);
      const next = values[index + 1];
      if (next !== undefined) expect(await system.partitions.left(table, next)).toBe(3);
    }
  });
});

describe('by hand', () => {
  const post = async (functionName: string, body: string) => {
    const path = `/2015-03-31/functions/${functionName}/invocations`;
    const response = await fetch(system.lambda + path, { method: 'POST', body });
    return {
      status: response.status,
      errorType: response.headers.get('x-amzn-errortype'),
      functionError: response.headers.get('x-amz-function-error'),
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  const ask = (payload: unknown) => post('podless-ddbctldpjob', JSON.stringify(payload));

  test('a function that does not exist is answered with 404', async () => {
    const { status, errorType, body } = await post('podless-nothing', '{}');
    expect({ status, errorType }).toEqual({ status: 404, errorType: 'ResourceNotFoundException' });
    expect(JSON.stringify(body)).toContain('podless-nothing');
  });

  test.each(['{"name":', 'name=x', '{name:"x"}', '\u0000'])(
    'a payload that is not JSON (%j) is answered with 400',
    async (payload) => {
      const { status, errorType } = await post('podless-ddbctldpjob', payload);
      expect({ status, errorType }).toEqual({
        status: 400,
        errorType: 'InvalidRequestContentException',
      });
    },
  );

  test.each([
    [{}, 'name must be the name of an object, got nothing'],
    [{ name: '' }, 'name must be the name of an object, got ""'],
    [{ name: 7 }, 'name must be the name of an object, got 7'],
    [{ name: null }, 'name must be the name of an object, got null'],
    [{ name: ['x'] }, 'name must be the name of an object, got ["x"]'],
    [{ name: 'x', namespace: 7 }, 'namespace must be the name of a namespace, got 7'],
    [{ name: 'x', dryRun: 'yes' }, 'dryRun must be true or false, got "yes"'],
    [{ name: 'x', cluster: {} }, 'cluster must be a non-empty string, got {}'],
    [{ name: 'x', cluster: 'elsewhere' }, 'cluster must be one of local, got elsewhere'],
    [null, 'payload must be an object, got null'],
    ['x', 'payload must be an object, got "x"'],
    [[{ name: 'x' }], 'payload must be an object'],
    [{ 'detail-type': 'DdbctlDpJob' }, 'hint must be an object'],
    [
      { 'detail-type': 'x', detail: { kind: 'Pod', apiVersion: 'v1', name: 'x' } },
      'kind of the hint must be',
    ],
  ])("%j is the function's error, and says what is wrong", async (payload, message) => {
    const { status, functionError, body } = await ask(payload);
    expect({ status, functionError }).toEqual({ status: 200, functionError: 'Unhandled' });
    expect(body['errorMessage']).toContain(message);
  });

  test('a batch of messages that are no hints fails message by message', async () => {
    const record = (messageId: string, body: string) => ({
      messageId,
      receiptHandle: messageId,
      body,
      attributes: { MessageGroupId: messageId },
    });
    const { functionError, body } = await ask({
      Records: [record('one', 'no JSON'), record('two', '{"name":7}')],
    });
    expect(functionError).toBeNull();
    expect(body).toEqual({
      batchItemFailures: [{ itemIdentifier: 'one' }, { itemIdentifier: 'two' }],
    });
  });

  test.each([{ name: 'no-such-job' }, { name: 'no-such-job', namespace: 'no-such-namespace' }])(
    'an object that does not exist (%j) is no error',
    async (payload) => {
      const { status, functionError, body } = await ask(payload);
      expect({ status, functionError }).toEqual({ status: 200, functionError: null });
      expect(body).toMatchObject({ outcome: 'skipped', reason: 'the object does not exist' });
    },
  );

  test.each([
    { name: '../../../../api/v1/secrets' },
    { name: 'a/status' },
    { name: '..' },
    { name: '.' },
    { name: 'x?dryRun=All' },
    { name: '💥' },
    { name: 'x'.repeat(254) },
    { name: 'x', namespace: '../kube-system' },
  ])('what cannot be a name (%j) is refused before the API server sees it', async (payload) => {
    const { status, body } = await ask(payload);
    expect(status).toBe(200);
    expect(body['errorType']).toBe('InvalidRequestError');
  });

  test('nothing of all that keeps a good job from being done', async () => {
    await goodJobCompletes();
  });
});
