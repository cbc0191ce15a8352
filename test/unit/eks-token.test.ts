import { afterEach, describe, expect, test } from 'vitest';
import { type AwsCredentials, credentialsOf } from '../../runtime/aws/credentials.ts';
import { createEksToken } from '../../runtime/kube/eks-token.ts';
import { isSignedFor, readToken } from '../helpers/aws-eks-token.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

const own: AwsCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'secret/of+the=test',
  sessionToken: 'session/token+of=the test!*',
};
const MINUTE = 60_000;

function createTokens(options: Partial<Parameters<typeof createEksToken>[0]> = {}) {
  const clock = createVirtualClock(Date.UTC(2026, 10, 16, 7, 8, 9));
  let signed = 0;
  const { credentials = async () => own, ...rest } = options;
  const counted = async () => {
    signed += 1;
    return credentials();
  };
  const defaults = { cluster: 'prod', region: 'eu-central-1', clock, credentials: counted };
  return { clock, ...createEksToken({ ...defaults, ...rest }), signatures: () => signed };
}

describe('an EKS token', () => {
  test('is a signed question to STS who we are, with each parameter once', async () => {
    const { url, parameters } = readToken(await createTokens().token());
    expect(`${url.origin}${url.pathname}`).toBe('https://sts.eu-central-1.amazonaws.com/');
    expect(Object.fromEntries(parameters)).toEqual({
      Action: 'GetCallerIdentity',
      Version: '2011-06-15',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIDEXAMPLE/20261116/eu-central-1/sts/aws4_request',
      'X-Amz-Date': '20261116T070809Z',
      'X-Amz-Expires': '60',
      'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
      'X-Amz-Security-Token': own.sessionToken,
      'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('proves by its signature that we have the secret, for this cluster alone', async () => {
    const token = readToken(await createTokens().token());
    expect(isSignedFor(token, 'prod', own.secretAccessKey)).toBe(true);
    expect(isSignedFor(token, 'test', own.secretAccessKey)).toBe(false);
    expect(isSignedFor(token, 'prod', 'another secret')).toBe(false);
  });

  test('needs no session token where the credentials have none', async () => {
    const { accessKeyId, secretAccessKey } = own;
    const credentials = async () => ({ accessKeyId, secretAccessKey });
    const token = readToken(await createTokens({ credentials }).token());
    expect(token.parameters.has('X-Amz-Security-Token')).toBe(false);
    expect(isSignedFor(token, 'prod', own.secretAccessKey)).toBe(true);
  });

  test.each([
    ['us-gov-west-1', 'sts.us-gov-west-1.amazonaws.com'],
    ['cn-north-1', 'sts.cn-north-1.amazonaws.com.cn'],
    ['eusc-de-east-1', 'sts.eusc-de-east-1.amazonaws.eu'],
    ['us-iso-east-1', 'sts.us-iso-east-1.c2s.ic.gov'],
    ['us-isob-east-1', 'sts.us-isob-east-1.sc2s.sgov.gov'],
  ])('of %s is for %s', async (region, host) => {
    const token = readToken(await createTokens({ region }).token());
    expect(token.url.host).toBe(host);
    expect(isSignedFor(token, 'prod', own.secretAccessKey)).toBe(true);
  });
});

describe('an EKS token, whatever endpoint our own calls go to,', () => {
  const names = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_STS'];
  afterEach(() => {
    for (const name of names) delete process.env[name];
  });

  test('is for the public one of STS', async () => {
    for (const name of names) process.env[name] = 'http://localhost:1234';
    const { url } = readToken(await createTokens().token());
    expect(url.host).toBe('sts.eu-central-1.amazonaws.com');
  });
});

describe('an EKS token is kept', () => {
  test('for ten minutes, then signed anew', async () => {
    const { token, clock, signatures } = createTokens();
    const first = await token();
    await clock.advance(10 * MINUTE - 1);
    expect(await token()).toBe(first);
    await clock.advance(1);
    const second = await token();
    expect(second).not.toBe(first);
    expect(readToken(second).parameters.get('X-Amz-Date')).toBe('20261116T071809Z');
    expect(signatures()).toBe(2);
  });

  test('and shared by those who ask at the same time', async () => {
    const { token, signatures } = createTokens();
    const [one, other] = await Promise.all([token(), token()]);
    expect(one).toBe(other);
    expect(signatures()).toBe(1);
  });

  test('until the cluster refuses it', async () => {
    const { token, forgetToken, signatures } = createTokens();
    await token();
    forgetToken();
    await token();
    expect(signatures()).toBe(2);
  });

  test('only if there is one: a failure is not remembered', async () => {
    const environment: Record<string, string> = {};
    const { token } = createTokens({ credentials: credentialsOf(environment) });
    await expect(token()).rejects.toThrow(
      'environment variable AWS_ACCESS_KEY_ID must be set, got nothing',
    );
    environment['AWS_ACCESS_KEY_ID'] = own.accessKeyId;
    await expect(token()).rejects.toThrow(/AWS_SECRET_ACCESS_KEY must be set/);
    environment['AWS_SECRET_ACCESS_KEY'] = own.secretAccessKey;
    expect(isSignedFor(readToken(await token()), 'prod', own.secretAccessKey)).toBe(true);
  });

  test('with the credentials of the moment when it is signed', async () => {
    const environment: Record<string, string> = {
      AWS_ACCESS_KEY_ID: 'OLD',
      AWS_SECRET_ACCESS_KEY: 'old secret',
    };
    const { token, clock } = createTokens({ credentials: credentialsOf(environment) });
    await token();
    Object.assign(environment, { AWS_ACCESS_KEY_ID: 'NEW', AWS_SECRET_ACCESS_KEY: 'new secret' });
    await clock.advance(10 * MINUTE);
    const renewed = readToken(await token());
    expect(renewed.parameters.get('X-Amz-Credential')).toMatch(/^NEW\//);
    expect(isSignedFor(renewed, 'prod', 'new secret')).toBe(true);
  });
});
