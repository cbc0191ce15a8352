import '../helpers/dynamodb-credentials.ts';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { KubeApiError, KubeConnectionError } from '../../runtime/kube/client.ts';
import { classify } from '../../runtime/outcome.ts';
import { breakCauseOf } from '../../runtime/watch/watch-break.ts';
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
  reply,
  type ServiceBehaviour,
  startHostileService,
} from '../helpers/aws-hostile-service.ts';
import { answer, hang, widget } from '../helpers/runtime-hostile-api.ts';
import {
  made,
  reconcilerOf,
  widgetKind,
  widgetOperator,
  widgetRef,
} from '../helpers/runtime-widget.ts';
import { createTestClock, createWorld } from '../helpers/runtime-world.ts';

const ref = widgetRef('w');
const certificate: Certificate = certificateMissing ? { key: '', cert: '' } : createCertificate();

describe.skipIf(certificateMissing)(`${eksName} that cannot be found`, () => {
  const ca = { data: Buffer.from(certificate.cert).toString('base64') };
  test.each<[string, ServiceBehaviour, RegExp]>([
    [
      'because there is none',
      refuse(404, 'ResourceNotFoundException', 'No cluster found for name: prod.'),
      /EKS cluster "prod" does not exist in eu-central-1: check the names in -c clusters, and the region/,
    ],
    [
      'because it is still being made',
      reply({ cluster: { status: 'CREATING' } }),
      /EKS cluster "prod" must have an endpoint and a certificate authority, has status CREATING/,
    ],
    [
      'because its authority is no certificate',
      reply({ cluster: { endpoint: 'https://a.b', certificateAuthority: { data: 'bm9uZQ==' } } }),
      /certificate authority/,
    ],
    [
      'because its endpoint is not secure',
      reply({ cluster: { endpoint: 'http://a.b', certificateAuthority: ca } }),
      /endpoint of EKS cluster "prod" must be an https URL, got "http:\/\/a.b"/,
    ],
    [
      'because the role lacks the right',
      refuse(403, 'AccessDeniedException', 'role x is not authorized to perform this'),
      /EKS cluster "prod" may not be described: the role of this function needs eks:DescribeCluster on it .*role x is not/,
    ],
    [
      'because the EKS API does not answer',
      neverAnswer,
      /the EKS API of eu-central-1 cannot be reached to find EKS cluster "prod": ETIMEDOUT; .*endpoint for EKS/,
    ],
    [
      'because the EKS API is broken',
      refuse(500, 'ServerException'),
      /EKS cluster "prod" cannot be found: DescribeCluster failed: ServerException \(HTTP 500\)/,
    ],
    ['because the answer is empty', reply({}), /EKS cluster "prod" must have an endpoint/],
  ])('%s says so, and is tried again', async (_, behaviour, message) => {
    await using eks = await startHostileService(behaviour);
    const failure = await failureOf(eksClientAt(eks.url, createTestClock()).get(ref));
    expect(failure.message).toMatch(message);
    expect(failure).toBeInstanceOf(KubeConnectionError);
    expect(classify(failure)).toBe('retry');
    expect(breakCauseOf(failure)).toBe('unreachable');
  });
});

describe.skipIf(certificateMissing)(`${eksName} that does not let us in`, () => {
  const clientAt = async (server: string, cert = certificate, isPublic = true) => {
    const eks = await startHostileService(described(server, cert, isPublic));
    return Object.assign(eks, { client: eksClientAt(eks.url, createTestClock()) });
  };

  test('for want of an access entry says so, after one more try', async () => {
    await using api = await startEksApi('another cluster', certificate, answer(200, widget));
    await using eks = await clientAt(api.server);
    const failure = await failureOf(eks.client.get(ref));
    expect(failure).toBeInstanceOf(KubeApiError);
    expect(failure).toMatchObject({
      status: 401,
      message: 'cluster "prod" does not accept this function\'s role: it needs an access entry',
    });
    expect(classify(failure)).not.toBe('terminal');
    expect(breakCauseOf(failure)).toBe('denied');
    expect(api.tokens).toHaveLength(2);
    expect(eks.calls).toHaveLength(1);
  });

  test('for want of a right is left to say so itself', async () => {
    const forbidden = { kind: 'Status', reason: 'Forbidden', message: 'widgets is forbidden' };
    await using api = await startEksApi('prod', certificate, answer(403, forbidden));
    await using eks = await clientAt(api.server);
    expect(await failureOf(eks.client.get(ref))).toMatchObject({
      status: 403,
      message: 'widgets is forbidden',
    });
  });

  test.each([
    [true, /; if its endpoint is private: deploy with -c vpcId=/],
    [false, /; its endpoint is private: deploy with -c vpcId=/],
  ])(
    'because nobody is there names the place and what to do (public: %s)',
    async (isPublic, hint) => {
      const server = await nobody();
      await using eks = await clientAt(server, certificate, isPublic);
      const failure = await failureOf(eks.client.get(ref));
      expect(failure.message).toContain(`cluster "prod" at ${server}: GET /apis/test.podless.dev/`);
      expect(failure.message).toContain('(ECONNREFUSED)');
      expect(failure.message).toMatch(hint);
      expect(classify(failure)).toBe('retry');
      expect(breakCauseOf(failure)).toBe('unreachable');
    },
  );

  test('because it never answers says that too, to a get and to a watch', async () => {
    await using api = await startEksApi('prod', certificate, hang);
    await using eks = await clientAt(api.server);
    const watching = eks.client.watch(widgetKind, { resourceVersion: '1', timeoutSeconds: 60 });
    const failures = await Promise.all(
      [eks.client.get(ref), watching].map((work) => failureOf(work)),
    );
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(KubeConnectionError);
      expect(failure.message).toMatch(/\(TimeoutError\); if its endpoint is private/);
    }
  });

  test('because it is another one, by its certificate', async () => {
    await using api = await startEksApi('prod', certificate, answer(200, widget));
    await using eks = await clientAt(api.server, createCertificate());
    const failure = await failureOf(eks.client.get(ref));
    expect(failure.message).toMatch(/certificate must be signed by the authority that EKS names/);
    expect(classify(failure)).toBe('retry');
    expect(api.tokens).toEqual([]);
  });

  test('never makes the token or a secret part of an error or a log line', async () => {
    await using refusing = await startEksApi('another cluster', certificate, answer(200, widget));
    await using breaking = await startEksApi('prod', certificate, (response) => response.destroy());
    const told: string[] = [];
    for (const server of [refusing.server, breaking.server, await nobody()]) {
      await using eks = await clientAt(server);
      const reconciler = reconcilerOf(async (object) => made(object));
      const world = createWorld({ operator: widgetOperator, kube: eks.client, reconciler });
      const failure = await failureOf(world.byHand('w'));
      told.push(inspect(failure, { depth: 9 }));
      told.push(...world.lines.map((line) => JSON.stringify(line)));
    }
    expect(refusing.tokens.length + breaking.tokens.length).toBeGreaterThan(2);
    const secrets = ['k8s-aws-v1', 'X-Amz-', 'secret-of-the-test', 'token-of-the-test'];
    const bodies = [...refusing.tokens, ...breaking.tokens].map((token) => token.slice(20, 60));
    expect(told.length).toBeGreaterThan(5);
    for (const text of told) {
      for (const secret of [...secrets, ...bodies]) expect(text).not.toContain(secret);
    }
  });
});
