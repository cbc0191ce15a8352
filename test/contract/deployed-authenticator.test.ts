import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import { apiRequest } from '../../local/control-plane/api-request.ts';
import { isInstalled } from '../../local/installed.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createEksToken } from '../../runtime/kube/eks-token.ts';
import { groupOf } from '../../runtime/kube/rbac.ts';
import type { AccessEntry } from '../deployed/cluster/access-entry.ts';
import type { KeyHolder } from '../deployed/cluster/caller.ts';
import { type EksCluster, startEksCluster } from '../deployed/cluster/eks-cluster.ts';
import { forgeries } from '../deployed/cluster/forgeries.ts';
import { signToken, type TokenRecipe } from '../deployed/cluster/sign-token.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';
import { client } from '../helpers/commands.ts';

const region = 'eu-west-1';
const { group, version, plural } = ddbctldpjob.kind;

const roleOf = (name: string): string => `arn:aws:iam::111122223333:role/podless-${name}`;

const holderOf = (name: string, sessionName: string) => ({
  secretAccessKey: `secret-of-${name}`,
  sessionToken: `session-of-${name}`,
  roleArn: roleOf(name),
  sessionName,
});

const watcher = holderOf('watcher', 'podless-watcher-prod');

const holders = new Map<string, KeyHolder>([
  ['ASIAWATCHER', watcher],
  ['ASIARESYNC', holderOf('resync', 'podless-resync')],
  ['ASIASTRANGER', holderOf('stranger', 'stranger')],
]);

const entryOf = (name: string): AccessEntry => ({
  principalArn: roleOf(name),
  kubernetesGroups: [groupOf(name)],
  username: `podless:${name}:{{SessionName}}`,
});

const recipeOf = (accessKeyId: string, cluster: string): TokenRecipe => {
  const { secretAccessKey = '', sessionToken = '' } = holders.get(accessKeyId) ?? {};
  return { accessKeyId, secretAccessKey, sessionToken, cluster, region };
};

const { log, lines } = createMemoryLog();
let prod: EksCluster;
let staging: EksCluster;
let stagingEntries: readonly AccessEntry[] = [];

beforeAll(async () => {
  const shared = { region, identify: (id: string) => holders.get(id), log };
  [prod, staging] = await Promise.all([
    startEksCluster({ ...shared, name: 'prod', accessEntries: () => [entryOf('watcher')] }),
    startEksCluster({ ...shared, name: 'staging', accessEntries: () => stagingEntries }),
  ]);
});

afterAll(() => Promise.all([prod?.stop(), staging?.stop()]));

/** As a function does it: with what DescribeCluster tells and a token. */
function ask({ endpoint, ca }: EksCluster, token: string, path: string, body?: object) {
  const access = { server: endpoint, ca: Buffer.from(ca, 'base64').toString(), token };
  return apiRequest(access, { path, ...(body && { method: 'POST', body }) });
}

async function whoIs(cluster: EksCluster, token: string): Promise<unknown> {
  const apiVersion = 'authentication.k8s.io/v1';
  const path = `/apis/${apiVersion}/selfsubjectreviews`;
  const body = { apiVersion, kind: 'SelfSubjectReview' };
  const answer = await ask(cluster, token, path, body);
  return answer.status === 201 ? JSON.parse(answer.body).status.userInfo : answer.status;
}

const watcherUser = {
  username: 'podless:watcher:podless-watcher-prod',
  groups: ['podless:watcher', 'system:authenticated'],
};

describe('a real API server', () => {
  test('knows the holder of a token by the name and groups of the access entry', async () => {
    const token = signToken(recipeOf('ASIAWATCHER', 'prod'));
    expect(await whoIs(prod, token)).toMatchObject(watcherUser);
  });

  test('gives the group what the shipped RBAC gives it, and no more', async () => {
    const token = signToken(recipeOf('ASIAWATCHER', 'prod'));
    const api = `/apis/${group}/${version}`;
    // RBAC takes a moment.
    await expect
      .poll(() => ask(prod, token, `${api}/${plural}`), { timeout: 10_000 })
      .toMatchObject({ status: 200 });
    const one = `${api}/namespaces/default/${plural}/x`;
    expect(await ask(prod, token, one)).toMatchObject({ status: 403 });
    expect(await ask(prod, token, '/api/v1/pods')).toMatchObject({ status: 403 });
  });

  test("accepts the runtime's own token", async () => {
    const { secretAccessKey, sessionToken } = watcher;
    const credentials = { accessKeyId: 'ASIAWATCHER', secretAccessKey, sessionToken };
    const { token } = createEksToken({
      cluster: 'prod',
      region,
      credentials: async () => credentials,
      clock: systemClock,
    });
    expect(await whoIs(prod, await token())).toMatchObject(watcherUser);
  });

  test('accepts the token of `aws eks get-token`', async ({ skip }) => {
    if (!isInstalled('aws')) skip('no AWS CLI on this machine');
    const { stdout, stderr } = await client(
      'aws',
      ['eks', 'get-token', '--cluster-name', 'prod', '--region', region, '--output', 'json'],
      {
        AWS_ACCESS_KEY_ID: 'ASIAWATCHER',
        AWS_SECRET_ACCESS_KEY: watcher.secretAccessKey,
        AWS_SESSION_TOKEN: watcher.sessionToken,
        AWS_STS_REGIONAL_ENDPOINTS: 'regional',
      },
    );
    expect(stderr).toBe('');
    expect(await whoIs(prod, JSON.parse(stdout).status.token)).toMatchObject(watcherUser);
  });

  test('answers 401 to every forgery', async () => {
    const forged = forgeries(recipeOf('ASIAWATCHER', 'prod'), Date.now());
    expect(forged.length).toBeGreaterThan(30);
    for (const [what, token, reason] of forged) {
      lines.length = 0;
      expect(await whoIs(prod, token), what).toBe(401);
      expect(lines, what).toMatchObject([{ message: 'token refused', reason, cluster: 'prod' }]);
    }
  });

  test('answers 401 to a role without an access entry', async () => {
    expect(await whoIs(prod, signToken(recipeOf('ASIASTRANGER', 'prod')))).toBe(401);
  });

  test('still knows its administrator', async ({ skip }) => {
    const ref = {
      kind: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces' },
      namespace: '',
      name: 'default',
    };
    expect(await prod.admin.get(ref)).toMatchObject({ metadata: { name: 'default' } });
    if (!isInstalled('kubectl')) skip('no kubectl on this machine');
    const { stdout } = await client('kubectl', ['get', 'crds', '-o', 'name'], {
      KUBECONFIG: prod.kubeconfig,
    });
    expect(stdout).toContain(`${plural}.${group}`);
  });
});

describe('two clusters', () => {
  test('do not accept tokens that were made for the other', async () => {
    stagingEntries = [entryOf('watcher')];
    const forProd = signToken(recipeOf('ASIAWATCHER', 'prod'));
    const forStaging = signToken(recipeOf('ASIAWATCHER', 'staging'));
    expect(await whoIs(prod, forProd)).toMatchObject(watcherUser);
    expect(await whoIs(staging, forStaging)).toMatchObject(watcherUser);
    expect(await whoIs(staging, forProd)).toBe(401);
    expect(await whoIs(prod, forStaging)).toBe(401);
  });

  test('let a role in as soon as it has an access entry', async () => {
    stagingEntries = [];
    const token = signToken(recipeOf('ASIARESYNC', 'staging'));
    expect(await whoIs(staging, token)).toBe(401);
    stagingEntries = [entryOf('resync')];
    await expect
      .poll(() => whoIs(staging, token), { timeout: 20_000 })
      .toMatchObject({ username: 'podless:resync:podless-resync' });
  });
});
