import '../helpers/dynamodb-credentials.ts';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { deletePartition } from '../../functions/ddbctldpjob/delete-partition.ts';
import { createPartitionTable } from '../../functions/ddbctldpjob/dynamo.ts';
import type { TableFault, TableKeys } from '../../functions/ddbctldpjob/table.ts';
import { startDynalite } from '../../local/dynamodb/dynalite.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { createTestTables } from '../helpers/dynamodb-tables.ts';

const { signal } = new AbortController();
const keys: TableKeys = {
  partitionKey: { name: 'id', type: 'S' },
  sortKey: { name: 'at', type: 'N' },
  status: 'ACTIVE',
};
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((clean) => clean()));
});

/** A server that is not DynamoDB. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answer = (response: ServerResponse, status: number, body: object | string): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
};
const tableAt = (endpoint: string, region = 'us-east-1') =>
  createPartitionTable({ tableName: 'orders', region, endpoint });
const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const describeAt = async (endpoint: string): Promise<unknown> =>
  caught(tableAt(endpoint).describe(signal));

describe('a server that never answers', () => {
  test('costs a call three seconds', async () => {
    const url = await serve(() => {});
    const startedAt = performance.now();
    const fault = await caught(
      tableAt(url)
        .partition(keys, { S: 'a' })
        .deleteKeys([{ N: '1' }], signal),
    );
    expect(fault).toMatchObject({ name: 'TableFault', kind: 'unreachable', mayHaveApplied: true });
    expect(performance.now() - startedAt).toBeGreaterThan(2_900);
    expect(performance.now() - startedAt).toBeLessThan(4_500);
  });

  test('costs a call three seconds also if it stops in the middle of its answer', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).write('{"Cou');
    });
    const startedAt = performance.now();
    const fault = await caught(tableAt(url).partition(keys, { S: 'a' }).page({ signal }));
    expect(fault).toMatchObject({ name: 'TableFault', mayHaveApplied: true });
    expect(performance.now() - startedAt).toBeLessThan(4_500);
  });

  test('is named as unreachable within some seconds', async () => {
    const url = await serve(() => {});
    const startedAt = performance.now();
    const error = await describeAt(url);
    expect(error).toMatchObject({ reason: 'EndpointUnreachable' });
    expect(String(error)).toContain(new URL(url).host);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  }, 10_000);

  test('does not hold up a stop', async () => {
    const url = await serve(() => {});
    const startedAt = performance.now();
    const partition = tableAt(url).partition(keys, { S: 'a' });
    const stop = AbortSignal.timeout(100);
    const result = await deletePartition(partition, { clock, signal: stop, graceMs: 100 });
    expect(result).toMatchObject({ deleted: 0, exact: true, finished: false });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('an endpoint that is not there', () => {
  test("is named with host, table, region and the system's code", async () => {
    const error = await describeAt('http://127.0.0.1:1');
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject({
      reason: 'EndpointUnreachable',
      message:
        '127.0.0.1:1 cannot be reached for DescribeTable on table "orders" in us-east-1 at 127.0.0.1:1: ECONNREFUSED',
    });
  });

  test('is named if its name is unknown', async () => {
    const error = await describeAt('http://nowhere.invalid:8000');
    expect(error).toMatchObject({ reason: 'EndpointUnreachable' });
    expect(String(error)).toContain('nowhere.invalid');
  });

  test('certainly has not deleted anything', async () => {
    const partition = tableAt('http://127.0.0.1:1').partition(keys, { S: 'a' });
    const fault = (await caught(partition.deleteKeys([{ N: '1' }], signal))) as TableFault;
    expect(fault).toMatchObject({ kind: 'unreachable', mayHaveApplied: false });
  });
});

describe('an answer', () => {
  const prefix = 'com.amazonaws.dynamodb.v20120810#';

  test.each([
    ['AccessDeniedException', 400, 'AccessDenied'],
    ['UnrecognizedClientException', 400, 'AccessDenied'],
    ['InvalidSignatureException', 400, 'AccessDenied'],
    ['ExpiredTokenException', 400, 'AccessDenied'],
    ['MissingAuthenticationTokenException', 400, 'AccessDenied'],
    ['ResourceNotFoundException', 400, 'TableNotFound'],
    ['ValidationException', 400, 'RequestRejected'],
    ['SomethingNewException', 400, 'RequestFailed'],
  ])('%s (%i) means %s, and is not repeated', async (type, status, reason) => {
    let calls = 0;
    const url = await serve((_, response) => {
      calls += 1;
      answer(response, status, { __type: prefix + type, message: 'the details' });
    });
    const error = await describeAt(url);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject({ reason });
    expect(String(error)).toContain('table "orders" in us-east-1');
    expect(calls).toBe(1);
  });

  test.each([
    ['ProvisionedThroughputExceededException', 400, 'DynamoDBThrottled'],
    ['ThrottlingException', 400, 'DynamoDBThrottled'],
    ['RequestLimitExceeded', 400, 'DynamoDBThrottled'],
    ['InternalServerError', 500, 'DynamoDBUnavailable'],
  ])('%s (%i) means %s after four tries', async (type, status, reason) => {
    let calls = 0;
    const url = await serve((_, response) => {
      calls += 1;
      answer(response, status, { __type: prefix + type, message: 'not now' });
    });
    expect(await describeAt(url)).toMatchObject({ reason });
    expect(calls).toBe(4);
  });

  test('that is no DynamoDB answer at all is tried again, then named', async () => {
    for (const [status, reason] of [
      [503, 'DynamoDBUnavailable'],
      [200, 'DynamoDBUnavailable'],
      [404, 'RequestFailed'],
    ] as const) {
      const url = await serve((_, response) => answer(response, status, '<html>hello</html>'));
      expect(await describeAt(url)).toMatchObject({ reason });
    }
  });

  test('with a table that is not ready is named with its status', async () => {
    for (const TableStatus of ['CREATING', 'DELETING', 'ARCHIVED']) {
      const url = await serve((_, response) => answer(response, 200, { Table: { TableStatus } }));
      const error = await describeAt(url);
      expect(error).toMatchObject({ reason: 'TableNotReady' });
      expect(String(error)).toContain(TableStatus);
    }
  });

  test('with a table that is being updated will do', async () => {
    const Table = {
      TableStatus: 'UPDATING',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'B' }],
    };
    const url = await serve((_, response) => answer(response, 200, { Table }));
    expect(await tableAt(url).describe(signal)).toEqual({
      partitionKey: { name: 'id', type: 'B' },
      status: 'UPDATING',
    });
  });
});

describe('credentials', () => {
  test('never come back in a message, though DynamoDB repeats the headers it could not verify', async () => {
    const url = await serve((request, response) => {
      const message = `The Canonical String should have been ${JSON.stringify(request.headers)}`;
      answer(response, 400, {
        __type: 'com.amazon.coral.service#InvalidSignatureException',
        message,
      });
    });
    const error = (await describeAt(url)) as OperatorError;
    expect(error.reason).toBe('AccessDenied');
    const shown = JSON.stringify([error.message, error.stack, error.cause]);
    expect(shown).not.toMatch(/token-of-the-test|secret-of-the-test|AWS4-HMAC/);
  });

  test('that are missing are an AccessDenied', async () => {
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, HOME: home } = process.env;
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    process.env['HOME'] = '/nonexistent';
    const url = await serve((_, response) => answer(response, 200, {}));
    const error = await describeAt(url);
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: id,
      AWS_SECRET_ACCESS_KEY: secret,
      HOME: home,
    });
    expect(error).toMatchObject({ reason: 'AccessDenied' });
  });
});

test('dynalite outlives a client that goes away in the middle of a request', async () => {
  const { url, failed, stop } = await startDynalite();
  cleanups.push(stop);
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
  await clock.sleep(50);
  socket.resetAndDestroy();
  await clock.sleep(50);
  const tables = createTestTables(url);
  await tables.create('still-there', { partitionKey: { name: 'id', type: 'S' } });
  expect(await tables.count('still-there', 'id', { S: 'a' })).toBe(0);
  expect(await Promise.race([failed, Promise.resolve('alive')])).toBe('alive');
});
