import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { KubeApiError, KubeConnectionError } from '../../runtime/kube/client.ts';
import {
  answer,
  halfAnObject,
  hang,
  reset,
  startHostileApi,
  stuckBody,
  truncated,
  widget,
} from '../helpers/runtime-hostile-api.ts';
import { widgetKind, widgetRef } from '../helpers/runtime-widget.ts';
import { until } from '../helpers/until.ts';

const ref = widgetRef('w');
const impatient = { timeoutMilliseconds: 200 };
const page = '<html><body>502 Bad Gateway</body></html>';

describe('the Kubernetes client fails as a connection, and soon', () => {
  test.each([
    ['nobody answers', hang],
    ['the connection is reset', reset],
    ['the body is cut off', truncated(200)],
    ['the body of an error is cut off', truncated(500)],
    ['the body never ends', stuckBody],
    ['half of the object comes', halfAnObject],
    ['a page comes instead of the object', answer(200, '<html>log in</html>')],
    ['something else than an object comes', answer(200, '[]')],
  ])('if %s', async (_, behaviour) => {
    await using api = await startHostileApi(behaviour);
    const client = api.client(impatient);
    await expect(client.get(ref)).rejects.toThrow(KubeConnectionError);
    await expect(client.list(widgetKind, { limit: 1 })).rejects.toThrow(KubeConnectionError);
  });

  test.each([
    ['hangs', () => new Promise<string>(() => undefined)],
    ['fails', () => Promise.reject(new Error('no credentials'))],
  ])('if the source of its token %s', async (_, token) => {
    await using api = await startHostileApi(answer(200, widget));
    await expect(api.client({ ...impatient, token }).get(ref)).rejects.toThrow(KubeConnectionError);
    expect(api.requests).toEqual([]);
  });

  test('if the watch gets no headers in time', async () => {
    await using api = await startHostileApi(hang);
    const opening = api
      .client(impatient)
      .watch(widgetKind, { resourceVersion: '1', timeoutSeconds: 60 });
    await expect(opening).rejects.toThrow(KubeConnectionError);
  });

  test('if nobody is there, and says whom it asked for what', async () => {
    const api = await startHostileApi(hang);
    const client = api.client(impatient);
    await api[Symbol.asyncDispose]();
    await expect(client.get(ref)).rejects.toThrow(
      /GET \/apis\/test.podless.dev\/v1\/namespaces\/default\/widgets\/w failed: .*ECONNREFUSED/,
    );
  });
});

describe('the Kubernetes client', () => {
  test('fails with the status of an error page that is not from the API server', async () => {
    await using api = await startHostileApi(answer(502, page, { 'content-type': 'text/html' }));
    const failure = await api
      .client()
      .get(ref)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(KubeApiError);
    expect(failure).toMatchObject({ status: 502, reason: 'HTTP502' });
    expect(String(failure)).not.toContain('<html>');
  });

  test('passes on how long an overloaded server asks to wait', async () => {
    const busy = { kind: 'Status', reason: 'TooManyRequests', message: 'later' };
    await using api = await startHostileApi(
      answer(429, busy, { 'retry-after': '7' }),
      answer(429, busy),
      answer(429, busy, { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' }),
    );
    const client = api.client();
    const failures = [];
    for (let i = 0; i < 3; i += 1)
      failures.push(await client.get(ref).catch((error: unknown) => error));
    expect(failures).toMatchObject([
      { status: 429, reason: 'TooManyRequests', message: 'later', retryAfterSeconds: 7 },
      { status: 429, retryAfterSeconds: undefined },
      { status: 429, retryAfterSeconds: undefined },
    ]);
  });

  test('gets a new token after a 401, and only once', async () => {
    await using api = await startHostileApi((response, request) => {
      const known = request.headers.authorization === 'Bearer token-2';
      return answer(known ? 200 : 401, known ? widget : {})(response, request);
    });
    let version = 1;
    const token = async () => `token-${version}`;
    const renewing = api.client({ token, forgetToken: () => (version += 1) });
    expect(await renewing.get(ref)).toEqual(widget);
    version = 7;
    await expect(renewing.get(ref)).rejects.toMatchObject({ status: 401 });
    expect(version).toBe(8);
    await expect(api.client({ token }).get(ref)).rejects.toMatchObject({ status: 401 });
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-7',
      'Bearer token-8',
      'Bearer token-8',
    ]);
  });

  test('sends again, once, what met a kept-alive connection that the server had closed', async () => {
    await using api = await startHostileApi(answer(200, widget), reset, answer(200, widget));
    const client = api.client();
    await client.get(ref);
    expect(await client.get(ref)).toEqual(widget);
    expect(api.requests).toHaveLength(3);
  });

  test('fails as a connection if every kept-alive connection turns out to be closed', async () => {
    const waiting: (() => void)[] = [];
    await using api = await startHostileApi(
      (response) => waiting.push(() => response.end(JSON.stringify(widget))),
      (response) => waiting.push(() => response.end(JSON.stringify(widget))),
      reset,
    );
    const client = api.client();
    const both = [client.get(ref), client.get(ref)];
    await until(async () => (waiting.length === 2 ? true : undefined), {
      seconds: 10,
      what: async () => 'two requests at once',
    });
    for (const proceed of waiting) proceed();
    await Promise.all(both);
    await expect(client.get(ref)).rejects.toThrow(KubeConnectionError);
  });

  test('does not send again what was reset on a new connection', async () => {
    await using api = await startHostileApi(reset, answer(200, widget));
    await expect(api.client().mergePatch(ref, {})).rejects.toThrow(KubeConnectionError);
    expect(api.requests).toHaveLength(1);
  });

  test('ends a pending request as soon as its signal aborts, and frees the connection', async () => {
    await using api = await startHostileApi(hang);
    const end = new AbortController();
    const pending = api.client().get(ref, end.signal);
    await until(async () => (api.requests.length === 1 ? true : undefined), {
      seconds: 10,
      what: async () => 'the request to arrive',
    });
    end.abort(new Error('enough'));
    await expect(pending).rejects.toThrow(/enough/);
    await until(async () => (api.openSockets() === 0 ? true : undefined), {
      seconds: 10,
      what: async () => 'the connection to close',
    });
  });

  test('ends an open watch by its signal, and not by the time limit for headers', async () => {
    await using api = await startHostileApi((response) => {
      response.writeHead(200).flushHeaders();
      setTimeout(() => response.write('{"type":"BOOKMARK"}\n'), 3 * impatient.timeoutMilliseconds);
    });
    const end = new AbortController();
    const options = { resourceVersion: '1', timeoutSeconds: 60, signal: end.signal };
    const stream = await api.client(impatient).watch(widgetKind, options);
    const [line] = (await once(stream, 'data')) as [Buffer];
    expect(line.toString()).toBe('{"type":"BOOKMARK"}\n');
    const failed = once(stream, 'error');
    end.abort();
    expect((await failed)[0]).toBeInstanceOf(Error);
    await until(async () => (api.openSockets() === 0 ? true : undefined), {
      seconds: 10,
      what: async () => 'the connection to close',
    });
  });
});
