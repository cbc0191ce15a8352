import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import { KubeConnectionError } from '../../runtime/kube/client.ts';
import {
  type Certificate,
  certificateMissing,
  createCertificate,
  described,
  eksClientAt,
  eksName,
  failureOf,
  nobody,
  startEksApi,
} from '../helpers/aws-eks-world.ts';
import {
  hang as neverAnswer,
  refuse,
  reset,
  startHostileService,
} from '../helpers/aws-hostile-service.ts';
import { answer, widget } from '../helpers/runtime-hostile-api.ts';
import { widgetKind, widgetRef } from '../helpers/runtime-widget.ts';
import { createTestClock } from '../helpers/runtime-world.ts';

const ref = widgetRef('w');
const certificate: Certificate = certificateMissing ? { key: '', cert: '' } : createCertificate();

describe.skipIf(certificateMissing)(eksName, () => {
  test('is found at the first request, by all that ask at once, and then known', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    await using eks = await startHostileService(described(api.server, certificate));
    const client = eksClientAt(eks.url, createTestClock());
    expect(eks.calls).toEqual([]);
    await Promise.all([client.get(ref), client.get(ref), client.get(ref)]);
    expect(await client.get(ref)).toEqual(widget);
    expect(eks.calls.map(({ operation }) => operation)).toEqual(['/clusters/prod']);
    expect(api.tokens).toHaveLength(4);
  });

  test('is watched the same way', async () => {
    await using api = await startEksApi('prod', certificate, (response) => {
      response.end('{"type":"BOOKMARK"}\n');
    });
    await using eks = await startHostileService(described(api.server, certificate));
    const client = eksClientAt(eks.url, createTestClock());
    const stream = await client.watch(widgetKind, { resourceVersion: '1', timeoutSeconds: 60 });
    expect((await stream.toArray()).join('')).toBe('{"type":"BOOKMARK"}\n');
  });

  test('gets a new token every ten minutes', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    await using eks = await startHostileService(described(api.server, certificate));
    const clock = createTestClock();
    const client = eksClientAt(eks.url, clock);
    for (const minutes of [0, 5, 4, 2]) {
      clock.ahead += minutes * 60_000;
      await client.get(ref);
    }
    const [first, second, third, fourth] = api.tokens;
    expect([second, third]).toEqual([first, first]);
    expect(fourth).not.toBe(first);
    expect(eks.calls).toHaveLength(1);
  });

  test('that was made anew is found at its new address', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    const old = createCertificate();
    await using eks = await startHostileService(
      described(await nobody(), old),
      described(api.server, old),
      described(api.server, certificate),
    );
    const clock = createTestClock();
    const client = eksClientAt(eks.url, clock);
    // First nobody is at the address, then somebody with another certificate.
    await expect(client.get(ref)).rejects.toThrow(KubeConnectionError);
    await expect(client.get(ref)).rejects.toThrow(KubeConnectionError);
    clock.ahead += 60_000;
    await expect(client.get(ref)).rejects.toThrow(KubeConnectionError);
    expect(await client.get(ref)).toEqual(widget);
    expect(eks.calls).toHaveLength(3);
  });

  test('that is down is looked up once a minute, however often it is tried', async () => {
    await using eks = await startHostileService(described(await nobody(), certificate));
    const clock = createTestClock();
    const client = eksClientAt(eks.url, clock);
    const tryOften = async () => {
      for (let i = 0; i < 5; i += 1) await failureOf(client.get(ref));
    };
    await tryOften();
    expect(eks.calls).toHaveLength(2);
    clock.ahead += 61_000;
    await tryOften();
    expect(eks.calls).toHaveLength(3);
  });

  test('that cannot be found is asked for every five seconds at most, until it is there', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    await using eks = await startHostileService(
      refuse(404, 'ResourceNotFoundException'),
      described(api.server, certificate),
    );
    const clock = createTestClock();
    const client = eksClientAt(eks.url, clock);
    const failures = await Promise.all(Array.from({ length: 9 }, () => failureOf(client.get(ref))));
    expect(failures.every((error) => error.message.includes('does not exist'))).toBe(true);
    clock.ahead += 3_000;
    await expect(client.get(ref)).rejects.toThrow(/does not exist/);
    expect(eks.calls).toHaveLength(1);
    clock.ahead += 2_000;
    expect(await client.get(ref)).toEqual(widget);
  });

  test('costs only itself if it cannot be reached', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    await using eks = await startHostileService((response, call) => {
      const known = call.operation === '/clusters/prod';
      const behaviour = known
        ? described(api.server, certificate)
        : refuse(404, 'ResourceNotFoundException');
      behaviour(response, call);
    });
    const clock = createTestClock();
    const [missing, prod] = [eksClientAt(eks.url, clock, 'gone'), eksClientAt(eks.url, clock)];
    const [failure, object] = await Promise.all([failureOf(missing.get(ref)), prod.get(ref)]);
    expect(failure.message).toContain('EKS cluster "gone" does not exist');
    expect(object).toEqual(widget);
  });

  test('does not hold a caller who has gone away', async () => {
    await using eks = await startHostileService(neverAnswer);
    const end = new AbortController();
    const pending = failureOf(eksClientAt(eks.url, createTestClock()).get(ref, end.signal));
    end.abort(new Error('the shift is over'));
    expect((await pending).message).toContain('the shift is over');
  });

  test('is tried again after the EKS API had a moment of weakness', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    await using eks = await startHostileService(
      reset,
      refuse(429, 'TooManyRequestsException'),
      described(api.server, certificate),
    );
    expect(await eksClientAt(eks.url, createTestClock()).get(ref)).toEqual(widget);
  });
});
