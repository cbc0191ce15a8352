import '../helpers/dynamodb-credentials.ts';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDynalite } from '../../local/dynamodb/dynalite.ts';
import type { DynamoDbServer } from '../../local/dynamodb/server.ts';
import { clientOptions } from '../../runtime/aws/client-options.ts';
import { createCursorStore } from '../../runtime/aws/dynamo-cursors.ts';
import {
  hang,
  refuse,
  reply,
  reset,
  type ServiceBehaviour,
  startHostileService,
} from '../helpers/aws-hostile-service.ts';
import { createTestTables } from '../helpers/dynamodb-tables.ts';
import { createTestClock } from '../helpers/runtime-world.ts';

const TABLE = 'podless-cursors';

const storeAt = (endpoint: string) => {
  const options = clientOptions({ region: 'us-east-1', endpoint, requestMilliseconds: 600 });
  const client = new DynamoDBClient(options);
  return createCursorStore({ table: TABLE, client, clock: createTestClock() });
};

describe('cursors in DynamoDB', () => {
  let server: DynamoDbServer;
  beforeAll(async () => {
    server = await startDynalite();
    await createTestTables(server.url).create(TABLE, { partitionKey: { name: 'id', type: 'S' } });
  });
  afterAll(() => server.stop());

  test('are read as they were written, each by its key, by whoever comes next', async () => {
    const keys = ['prod/test.podless.dev/widgets', 'prod//gadgets/made-by=podless/widget'];
    for (const [index, key] of keys.entries()) await storeAt(server.url).write(key, `10${index}`);
    const next = storeAt(server.url);
    expect(await Promise.all(keys.map((key) => next.read(key)))).toEqual(['100', '101']);
  });

  test('are not there before the first write, nor after they were cleared', async () => {
    const store = storeAt(server.url);
    expect(await store.read('prod/a')).toBeUndefined();
    await store.write('prod/a', '7');
    await store.clear('prod/a');
    expect(await store.read('prod/a')).toBeUndefined();
    await store.clear('prod/a');
  });

  test('stay as last written, also if that is further back: a restored cluster counts from there', async () => {
    const store = storeAt(server.url);
    await store.write('prod/b', '900');
    await store.write('prod/b', '12');
    expect(await store.read('prod/b')).toBe('12');
  });
});

describe('a cursor store', () => {
  test('makes three kinds of calls and no other, and reads consistently', async () => {
    await using service = await startHostileService(reply({}));
    const store = storeAt(service.url);
    await store.read('k');
    await store.write('k', '1');
    await store.clear('k');
    expect(service.calls.map(({ operation, body }) => ({ operation, ...body }))).toMatchObject([
      { operation: 'GetItem', TableName: TABLE, Key: { id: { S: 'k' } }, ConsistentRead: true },
      { operation: 'PutItem', Item: { id: { S: 'k' }, resourceVersion: { S: '1' } } },
      { operation: 'DeleteItem', Key: { id: { S: 'k' } } },
    ]);
    expect(service.calls[1]?.body).not.toHaveProperty('ConditionExpression');
  });

  test.each<[string, ServiceBehaviour]>([
    ['a stale connection', reset],
    ['a throttled call', refuse(400, 'ThrottlingException')],
    ['a failure of the service', refuse(500, 'InternalServerError')],
    ['no answer', hang],
  ])('tries once more after %s', async (_, behaviour) => {
    const found = reply({ Item: { id: { S: 'k' }, resourceVersion: { S: '42' } } });
    await using service = await startHostileService(behaviour, found);
    expect(await storeAt(service.url).read('k')).toBe('42');
    expect(service.calls).toHaveLength(2);
  });

  test('gives up after that: the watch does not wait for its store', async () => {
    await using service = await startHostileService(hang);
    await expect(storeAt(service.url).write('k', '1')).rejects.toThrow(
      'PutItem on table "podless-cursors" failed: ETIMEDOUT',
    );
    expect(service.calls).toHaveLength(2);
  });

  test('does not try again what is refused', async () => {
    await using service = await startHostileService(
      refuse(400, 'ResourceNotFoundException', 'gone'),
    );
    await expect(storeAt(service.url).read('k')).rejects.toThrow(
      'GetItem on table "podless-cursors" failed: ResourceNotFoundException (HTTP 400): gone',
    );
    expect(service.calls).toHaveLength(1);
  });

  test('takes an item of another shape for none', async () => {
    await using service = await startHostileService(reply({ Item: { id: { S: 'k' } } }));
    expect(await storeAt(service.url).read('k')).toBeUndefined();
  });
});
