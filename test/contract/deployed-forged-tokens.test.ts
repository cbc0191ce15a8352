import { describe, expect, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { createEksToken } from '../../runtime/kube/eks-token.ts';
import type { AccessEntry } from '../deployed/cluster/access-entry.ts';
import { reviewToken } from '../deployed/cluster/authenticator.ts';
import type { KeyHolder } from '../deployed/cluster/caller.ts';
import { forgeries } from '../deployed/cluster/forgeries.ts';
import { signToken, type TokenRecipe } from '../deployed/cluster/sign-token.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';

const region = 'eu-west-1';
const cluster = 'prod';
const now = Date.UTC(2026, 10, 16, 12);
const minutes = 60_000;

const holders: Readonly<Record<string, KeyHolder>> = {
  ASIAWATCHER: {
    secretAccessKey: 'secret-of-watcher',
    sessionToken: 'session/of+watcher==',
    roleArn: 'arn:aws:iam::111122223333:role/watcher',
    sessionName: 'podless-watcher-prod',
  },
  AKIALASTING: {
    secretAccessKey: 'secret-of-lasting',
    roleArn: 'arn:aws:iam::111122223333:role/teams/a/lasting',
    sessionName: 'me@example.com',
  },
  ASIASTRANGER: {
    secretAccessKey: 'secret-of-stranger',
    sessionToken: 'session-of-stranger',
    roleArn: 'arn:aws:iam::111122223333:role/stranger',
    sessionName: 'stranger',
  },
};

const entries: readonly AccessEntry[] = [
  {
    principalArn: 'arn:aws:iam::111122223333:role/watcher',
    kubernetesGroups: ['podless:watcher'],
    username: 'podless:watcher:{{SessionName}}',
  },
  {
    principalArn: 'arn:aws:iam::111122223333:role/teams/a/lasting',
    kubernetesGroups: [],
  },
];

const watcher: TokenRecipe = {
  accessKeyId: 'ASIAWATCHER',
  secretAccessKey: 'secret-of-watcher',
  sessionToken: 'session/of+watcher==',
  cluster,
  region,
  at: now,
};

function review(token: string, accessEntries = entries) {
  const { log, lines } = createMemoryLog();
  const identify = (id: string) => (Object.hasOwn(holders, id) ? holders[id] : undefined);
  const answer = reviewToken(token, {
    cluster,
    region,
    identify,
    accessEntries: () => accessEntries,
    log,
    clock: { now: () => now },
  });
  return { answer, lines };
}

const accepted = {
  authenticated: true,
  user: {
    username: 'podless:watcher:podless-watcher-prod',
    groups: ['podless:watcher', 'system:authenticated'],
  },
};

describe('a token is accepted', () => {
  test('as the user and groups of the access entry', () => {
    const { answer, lines } = review(signToken(watcher));
    expect(answer).toEqual(accepted);
    expect(lines).toEqual([]);
  });

  test('of a key without a session token, by the name that EKS makes itself', () => {
    const { sessionToken: _, ...rest } = watcher;
    const token = signToken({
      ...rest,
      accessKeyId: 'AKIALASTING',
      secretAccessKey: 'secret-of-lasting',
    });
    expect(review(token).answer).toEqual({
      authenticated: true,
      user: {
        username: 'arn:aws:sts::111122223333:assumed-role/lasting/me-example.com',
        groups: ['system:authenticated'],
      },
    });
  });

  test.each([
    ['14 minutes old', -14 * minutes],
    ['from a clock that is 4 minutes ahead', 4 * minutes],
  ])('when it is %s', (_, age) => {
    expect(review(signToken({ ...watcher, at: now + age })).answer).toEqual(accepted);
  });

  test('when the runtime made it, which makes the same one', async () => {
    const { accessKeyId, secretAccessKey, sessionToken = '' } = watcher;
    const token = await createEksToken({
      cluster,
      region,
      credentials: async () => ({ accessKeyId, secretAccessKey, sessionToken }),
      clock: { ...systemClock, now: () => now },
    }).token();
    expect(review(token).answer).toEqual(accepted);
    // So the forgeries here are as good as they can be.
    expect(parametersIn(signToken(watcher))).toEqual(parametersIn(token));
  });
});

describe('a token is refused, and the log says why but not what it was', () => {
  test.each(forgeries(watcher, now))('%s', (_, token, reason) => {
    const { answer, lines } = review(token);
    expect(answer).toEqual({ authenticated: false });
    expect(lines).toMatchObject([{ level: 'error', message: 'token refused', reason, cluster }]);
    const logged = JSON.stringify(lines);
    for (const part of [token, token.slice(11, 60), 'secret-of', 'session/of'])
      expect(logged).not.toContain(part);
  });

  const good = signToken(watcher);

  test.each([
    ['empty', '', 'token has another prefix'],
    ['of another kind', 'eyJhbGciOi', 'token has another prefix'],
    ['with a prefix in capitals', good.replace('k8s', 'K8S'), 'token has another prefix'],
    ['with padding', `${good}=`, 'token is not unpadded base64url'],
    ['with a space', `${good} `, 'token is not unpadded base64url'],
    ['with a character more', `${good}A`, 'token is not unpadded base64url'],
    [
      'in the other base64',
      `${good.slice(0, 20)}+${good.slice(21)}`,
      'token is not unpadded base64url',
    ],
    ['of a prefix alone', 'k8s-aws-v1.', 'URL holds more than printable ASCII'],
    ['too long', `k8s-aws-v1.${'A'.repeat(5000)}`, 'token is too long'],
  ])('%s', (_, token, reason) => {
    const { answer, lines } = review(token);
    expect(answer).toEqual({ authenticated: false });
    expect(lines).toMatchObject([{ message: 'token refused', reason }]);
  });

  test('of a role that no access entry lets in', () => {
    const { answer, lines } = review(
      signToken({
        ...watcher,
        accessKeyId: 'ASIASTRANGER',
        secretAccessKey: 'secret-of-stranger',
        sessionToken: 'session-of-stranger',
      }),
    );
    expect(answer).toEqual({ authenticated: false });
    expect(lines).toMatchObject([
      { reason: 'role has no access entry', roleArn: 'arn:aws:iam::111122223333:role/stranger' },
    ]);
  });
});

describe('access entries which EKS would not create let nobody in', () => {
  const [entry] = entries as readonly [AccessEntry];
  test.each([
    ['an administrator', { kubernetesGroups: ['system:masters'] }, /names may not begin.*masters/],
    ['a name of EKS', { username: 'eks:x:{{SessionName}}' }, /names may not begin.*eks:x/],
    ['a session without a colon', { username: 'x-{{SessionName}}' }, /colon before/],
    ['no role', { principalArn: 'watcher' }, /must be the ARN of a role/],
  ])('%s', (_, change, error) => {
    const { answer, lines } = review(signToken(watcher), [{ ...entry, ...change }]);
    expect(answer).toEqual({ authenticated: false });
    expect(lines).toMatchObject([
      { message: 'token could not be reviewed', error: expect.stringMatching(error) },
    ]);
  });

  test('a role twice', () => {
    expect(review(signToken(watcher), [entry, entry]).lines).toMatchObject([
      { error: expect.stringContaining('one entry per cluster') },
    ]);
  });
});

const parametersIn = (token: string): readonly string[] =>
  Buffer.from(token.replace('k8s-aws-v1.', ''), 'base64url').toString().split(/[?&]/).toSorted();
