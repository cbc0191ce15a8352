import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createVirtualClock, settled } from '../helpers/cloud-clock.ts';
import { createScriptedFunction, createTestEndpoint } from '../helpers/cloud-endpoint.ts';
import { createTestPool } from '../helpers/cloud-pool.ts';

// Threads start slowly on a busy machine.
vi.setConfig({ testTimeout: 30_000, expect: { poll: { timeout: 10_000 } } });

const arn = 'arn:aws:lambda:us-east-1:000000000000:function:podless-echo';

describe('RequestResponse', () => {
  test('answers with the payload, the version and a request id', async () => {
    const { invoke } = await createTestEndpoint([createTestPool('echo').pool]);
    const response = await invoke('podless-echo', '{"a":1}');
    expect(response.status).toBe(200);
    expect(response.headers.get('x-amz-executed-version')).toBe('$LATEST');
    expect(response.headers.get('x-amz-function-error')).toBeNull();
    expect(await response.json()).toMatchObject({
      event: { a: 1 },
      requestId: response.headers.get('x-amzn-requestid'),
    });
  });

  test.each([
    'podless-echo',
    'podless-echo:$LATEST',
    'podless-echo?Qualifier=$LATEST',
    '000000000000:function:podless-echo',
    arn,
    encodeURIComponent(`${arn}:live`),
  ])('finds the function by %s', async (name) => {
    const { endpoint } = await createTestEndpoint([createTestPool('echo').pool]);
    const [path, query = ''] = name.split('?');
    const url = `${endpoint.url}/2015-03-31/functions/${path}/invocations?${query}`;
    const response = await fetch(url, { method: 'POST' });
    // No payload at all is an empty object.
    expect(await response.json()).toMatchObject({ event: {}, functionName: 'podless-echo' });
  });

  test('tells of a failed run in Lambda’s way, with its log', async () => {
    const { invoke } = await createTestEndpoint([createTestPool('misbehave').pool]);
    const response = await invoke('podless-misbehave', '{"act":"throw"}', {
      'X-Amz-Log-Type': 'Tail',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-amz-function-error')).toBe('Unhandled');
    expect(await response.json()).toMatchObject({
      errorType: 'RangeError',
      errorMessage: 'as asked for',
    });
    const log = Buffer.from(response.headers.get('x-amz-log-result') ?? '', 'base64').toString();
    expect(log).toMatch(/^START RequestId/);
  });

  test('beyond the function’s concurrency is 429', async () => {
    const { pool } = createTestPool('misbehave', { maxConcurrency: 1 });
    const { invoke } = await createTestEndpoint([pool]);
    const first = pool.call({ act: 'sleep' });
    const response = await invoke('podless-misbehave', '{"act":"sleep"}');
    expect(response.status).toBe(429);
    expect(response.headers.get('x-amzn-errortype')).toBe('TooManyRequestsException');
    await first;
  });

  test('a client that hangs up costs nothing, and the run goes on', async () => {
    const { pool, lines } = createTestPool('echo');
    const { endpoint, invoke, lines: endpointLines } = await createTestEndpoint([pool]);
    const head =
      'POST /2015-03-31/functions/podless-echo/invocations HTTP/1.1\r\nHost: localhost\r\n';
    for (const rest of ['Content-Length: 2\r\n\r\n{}', 'Content-Length: 900\r\n\r\n{"half":']) {
      const socket = connect(Number(new URL(endpoint.url).port), '127.0.0.1');
      await once(socket, 'connect');
      socket.end(head + rest, () => socket.destroy());
      await once(socket, 'close');
    }
    await expect.poll(() => lines.length).toBe(1);
    expect(endpointLines.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await invoke('podless-echo', '{}')).status).toBe(200);
  });
});

describe('Event', () => {
  const asynchronous = { 'X-Amz-Invocation-Type': 'Event' };

  test('is accepted at once and tried again after one and two minutes', async () => {
    const clock = createVirtualClock();
    const { scripted, runs } = createScriptedFunction(['error', 'error', 'ok']);
    const { invoke } = await createTestEndpoint([scripted], clock);
    const response = await invoke('podless-scripted', '{"a":1}', asynchronous);
    expect(response.status).toBe(202);
    expect(await response.text()).toBe('');
    expect(runs).toHaveLength(1);
    await clock.advance(59_000);
    expect(runs).toHaveLength(1);
    await clock.advance(1_000);
    expect(runs).toHaveLength(2);
    await clock.advance(120_000);
    expect(runs).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }]);
    expect(clock.timers).toBe(0);
  });

  test('is dropped with an error line after the last try', async () => {
    const clock = createVirtualClock();
    const { scripted, runs } = createScriptedFunction(['error', 'error', 'error', 'error']);
    const { invoke, lines } = await createTestEndpoint([scripted], clock);
    await invoke('podless-scripted', '{}', asynchronous);
    await clock.advance(3_600_000);
    expect(runs).toHaveLength(3);
    expect(lines.at(-1)).toMatchObject({ level: 'error', errorMessage: 'boom' });
  });

  test('is not tried again once the endpoint has stopped', async () => {
    const clock = createVirtualClock();
    const { scripted } = createScriptedFunction(['error']);
    const { invoke, endpoint } = await createTestEndpoint([scripted], clock);
    await invoke('podless-scripted', '{}', asynchronous);
    await endpoint.stop();
    await settled();
    expect(clock.timers).toBe(0);
  });
});

test('DryRun answers 204 and runs nothing', async () => {
  const { scripted, runs } = createScriptedFunction([]);
  const { invoke } = await createTestEndpoint([scripted]);
  const response = await invoke('podless-scripted', '{}', { 'X-Amz-Invocation-Type': 'DryRun' });
  expect(response.status).toBe(204);
  expect(runs).toEqual([]);
});

describe('bad requests get an answer AWS clients understand, and nothing runs', () => {
  const path = '/2015-03-31/functions/podless-scripted/invocations';
  const large = JSON.stringify('x'.repeat(6_291_456));
  const cases: readonly [string, string, RequestInit, number, string, RegExp][] = [
    [
      'an unknown function',
      '/2015-03-31/functions/nobody/invocations',
      { method: 'POST' },
      404,
      'ResourceNotFoundException',
      /^Function not found: arn:aws:lambda:.*:function:nobody$/,
    ],
    [
      'a name that is none',
      '/2015-03-31/functions/a%20b/invocations',
      { method: 'POST' },
      400,
      'ValidationException',
      /functionName/,
    ],
    [
      'a name badly encoded',
      '/2015-03-31/functions/%E0%A4/invocations',
      { method: 'POST' },
      400,
      'ValidationException',
      /functionName/,
    ],
    [
      'a body that is no JSON',
      path,
      { method: 'POST', body: '{"a":' },
      400,
      'InvalidRequestContentException',
      /^Could not parse request body into json: /,
    ],
    [
      'a body that is no text',
      path,
      { method: 'POST', body: new Uint8Array([0xff, 0xfe]) },
      400,
      'InvalidRequestContentException',
      /^Could not parse request body into json: /,
    ],
    [
      'a body over 6 MB',
      path,
      { method: 'POST', body: large },
      413,
      'RequestTooLargeException',
      /smaller than 6291456 bytes/,
    ],
    [
      'an event over 1 MB',
      path,
      {
        method: 'POST',
        body: large.slice(0, 1_100_000),
        headers: { 'X-Amz-Invocation-Type': 'Event' },
      },
      413,
      'RequestTooLargeException',
      /smaller than 1048576 bytes/,
    ],
    [
      'a wrong invocation type',
      path,
      { method: 'POST', headers: { 'X-Amz-Invocation-Type': 'Sometimes' } },
      400,
      'InvalidParameterValueException',
      /RequestResponse, Event or DryRun, got "Sometimes"/,
    ],
    ['another method', path, { method: 'PUT' }, 404, 'UnknownOperationException', /PUT/],
    ['another path', '/favicon.ico', {}, 404, 'UnknownOperationException', /favicon/],
    [
      'a web page',
      path,
      { method: 'POST', headers: { Origin: 'https://evil.example' } },
      403,
      'AccessDeniedException',
      /evil/,
    ],
  ];
  test.each(cases)('%s', async (_name, url, init, status, type, message) => {
    const { scripted, runs } = createScriptedFunction([]);
    const { request, invoke } = await createTestEndpoint([scripted]);
    const response = await request(url, init);
    expect(response.status).toBe(status);
    expect(response.headers.get('x-amzn-errortype')).toBe(type);
    expect(await response.json()).toMatchObject({
      Type: 'User',
      Message: expect.stringMatching(message),
    });
    expect(runs).toEqual([]);
    expect((await invoke('podless-scripted', '{}')).status).toBe(200);
  });

  test('a host name that is not this machine’s', async () => {
    const { scripted, runs } = createScriptedFunction([]);
    const { endpoint } = await createTestEndpoint([scripted]);
    const socket = connect(Number(new URL(endpoint.url).port), '127.0.0.1');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}`);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1.1 403 /);
    expect(runs).toEqual([]);
  });
});

test('lists functions and describes one', async () => {
  const { request } = await createTestEndpoint([createTestPool('echo').pool]);
  const expected = { FunctionName: 'podless-echo', FunctionArn: arn, Timeout: 10, MemorySize: 128 };
  const get = async (path: string) => (await request(`/2015-03-31/functions${path}`)).json();
  expect(await get('')).toMatchObject({ Functions: [expected] });
  expect(await get('/')).toMatchObject({ Functions: [expected] });
  expect(await get('/podless-echo')).toMatchObject({ Configuration: expected });
  expect(await get('/podless-echo/configuration')).toMatchObject(expected);
});
