import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findChartRoot } from '../../functions/helm/chart-root.ts';
import { operatorOf } from '../../functions/helm/operator.ts';
import { describeFailure } from '../../functions/helm/status.ts';
import { valuesOf } from '../../functions/helm/values.ts';
import type { Watch } from '../../functions/helm/watch.ts';
import { TerminalError } from '../../runtime/errors.ts';
import { kubeconfigOf } from '../../runtime/helm/kubeconfig.ts';

const watch: Watch = {
  group: 'test.io',
  version: 'v1',
  kind: 'Shop',
  plural: 'shops',
  chart: 'charts/shop',
};

describe('the values of a release', () => {
  test('are the spec as it is', () => {
    const spec = { a: { b: [1, { c: null }] } };
    expect(valuesOf(spec, watch)).toEqual(spec);
    expect(valuesOf(undefined, watch)).toEqual({});
  });

  test('are overridden by path, whatever is in the way', () => {
    const overrideValues = { 'image.tag': '2', 'list.x': true, 'new.deep.one': 3 };
    const spec = { image: { tag: '1', name: 'n' }, list: [1] };
    expect(valuesOf(spec, { ...watch, overrideValues })).toEqual({
      image: { tag: '2', name: 'n' },
      list: { x: true },
      new: { deep: { one: 3 } },
    });
    expect(spec.image.tag).toBe('1');
  });

  test('keep a text that looks like a variable', () => {
    const overrideValues = { a: ['$', '{HOME}'].join('') };
    expect(valuesOf({}, { ...watch, overrideValues })).toEqual(overrideValues);
  });

  test('have no effect on other objects by the name of a key', () => {
    const spec: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    const overrideValues = { '__proto__.polluted': true, 'constructor.prototype.polluted': true };
    valuesOf(spec, { ...watch, overrideValues });
    expect({}).not.toHaveProperty('polluted');
  });

  test('must be an object', () => {
    expect(() => valuesOf('text', watch)).toThrow(/spec must be an object/);
  });
});

describe('an operator out of a watch', () => {
  test('may hold only the kinds it names, and those beyond the usual ones that it allows', () => {
    const role = {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      kind: 'Role',
      plural: 'roles',
      scope: 'Namespaced',
    } as const;
    const { owns, name } = operatorOf({ ...watch, kinds: ['Service', 'Job'], extraKinds: [role] });
    expect(name).toBe('shop');
    expect(owns.map(({ kind }) => kind)).toEqual(['Service', 'Job', 'Role']);
  });

  test('has no right to update, and waits only for Jobs', () => {
    const { owns } = operatorOf(watch);
    expect(owns.filter(({ verbs }) => verbs.includes('update'))).toEqual([]);
    const watched = owns.filter(({ verbs }) => verbs.includes('watch'));
    expect(watched.map(({ kind }) => kind)).toEqual(['Job']);
  });
});

test('charts are found above the code, or where the environment says', async () => {
  const root = await mkdtemp(join(tmpdir(), 'podless-test-root-'));
  await mkdir(join(root, 'charts'));
  await mkdir(join(root, 'a', 'b'), { recursive: true });
  expect(findChartRoot({}, join(root, 'a', 'b'))).toBe(root);
  expect(findChartRoot({ PODLESS_CHARTS: '/elsewhere' }, root)).toBe('/elsewhere');
  await rm(root, { recursive: true });
  expect(() => findChartRoot({}, '/nonexistent')).toThrow(/charts/);
});

describe('a kubeconfig', () => {
  test('has the same server and identity, and no command', async () => {
    const text = await kubeconfigOf({
      server: 'https://k',
      ca: 'CA',
      token: async () => 'secret',
      impersonate: { user: 'u', groups: ['g'] },
    });
    expect(JSON.parse(text)).toMatchObject({
      clusters: [{ cluster: { server: 'https://k', 'certificate-authority-data': 'Q0E=' } }],
      users: [{ user: { token: 'secret', as: 'u', 'as-groups': ['g'] } }],
    });
    expect(text).not.toContain('exec');
  });

  test('without anybody to impersonate is refused, not one with all rights', async () => {
    const server = 'https://k';
    await expect(
      kubeconfigOf({ server, impersonate: { user: '', groups: ['g'] } }),
    ).rejects.toThrow();
    await expect(
      kubeconfigOf({ server, impersonate: { user: 'u', groups: [] } }),
    ).rejects.toThrow();
  });
});

test('an error before anything was looked at keeps what the status knows', () => {
  const deployedRelease = { name: 's', manifest: 'm', revision: 2 };
  const object = {
    apiVersion: 'test.io/v1',
    kind: 'Shop',
    metadata: { name: 's', namespace: 'default', uid: 'u', resourceVersion: '1' },
    status: { deployedRelease },
  };
  const error = new TerminalError('InvalidSpec', 'spec must be an object');
  const { status, conditions } = describeFailure({ object, error, now: 0 });
  expect(status).toEqual({ deployedRelease });
  expect(conditions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'Deployed', status: 'True' }),
      expect.objectContaining({ type: 'Irreconcilable', status: 'True', reason: 'InvalidSpec' }),
    ]),
  );
});
