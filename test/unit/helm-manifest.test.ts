import { describe, expect, test } from 'vitest';
import { usualChartKinds } from '../../runtime/helm/chart-kinds.ts';
import {
  manifestDigest,
  readManifest,
  readStoredManifest,
  storedManifestDigest,
} from '../../runtime/helm/manifest.ts';

const rules = { namespace: 'shop', allowed: usualChartKinds };
const read = (text: string) => readManifest(text, rules);
const doc = (body: object, source = 'c/templates/a.yaml') =>
  `---\n# Source: ${source}\n${JSON.stringify(body)}\n`;
const configMap = (metadata: object, more: object = {}) =>
  doc({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...more });

describe('a rendered manifest', () => {
  test('gives each object its kind, name and the namespace of the release', () => {
    const [object] = read(configMap({ name: 'one' }, { data: { a: 'b' } }));
    expect(object?.ref).toMatchObject({
      namespace: 'shop',
      name: 'one',
      kind: { plural: 'configmaps' },
    });
    expect(object?.body).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one', namespace: 'shop' },
      data: { a: 'b' },
    });
  });

  test('may hold empty documents, comments and lists', () => {
    const items = ['one', 'two'].map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
    }));
    const text = `---\n# only a comment\n---\n${doc({ apiVersion: 'v1', kind: 'List', items })}`;
    expect(read(text).map(({ ref }) => ref.name)).toEqual(['one', 'two']);
  });

  test('loses what only the API server sets, and references to other owners', () => {
    const metadata = {
      name: 'one',
      uid: 'x',
      resourceVersion: '1',
      creationTimestamp: null,
      managedFields: [],
      ownerReferences: [{ kind: 'Node', name: 'n', uid: 'y', controller: true }],
      labels: { app: 'a' },
    };
    const [object] = read(configMap(metadata, { status: { ready: true } }));
    expect(object?.body.metadata).toEqual({ name: 'one', namespace: 'shop', labels: { app: 'a' } });
    expect(object?.body).not.toHaveProperty('status');
  });

  test('may use another version of a kind that is allowed', () => {
    const text = doc({
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
    });
    expect(read(text)[0]?.ref.kind).toMatchObject({ group: 'autoscaling', version: 'v1' });
  });

  test('may name one hook several times', () => {
    const hook = configMap({ name: 'one', annotations: { 'helm.sh/hook': 'pre-install' } });
    expect(read(hook + hook)).toHaveLength(2);
  });
});

describe('refused, by a message that names the object and the template', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'a kind that gives rights',
      doc({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'root' },
      }),
      /ClusterRoleBinding root of c\/templates\/a.yaml .*may not hold/,
    ],
    [
      'an unknown kind',
      doc({ apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' } }),
      /Thing a/,
    ],
    [
      'an allowed kind of another group',
      doc({ apiVersion: 'evil.io/v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
      /evil.io\/v1 ConfigMap/,
    ],
    [
      'a version that would be another path',
      doc({ apiVersion: 'apps/v1/../../v1', kind: 'Deployment', metadata: { name: 'a' } }),
      /may not hold/,
    ],
    [
      'another namespace',
      configMap({ name: 'a', namespace: 'kube-system' }),
      /"kube-system".*must be shop/,
    ],
    ['a namespace that is no text', configMap({ name: 'a', namespace: ['shop'] }), /must be shop/],
    ['no name', configMap({ generateName: 'a-' }), /metadata.name/],
    ['a name that is a path', configMap({ name: '../secrets/x' }), /metadata.name/],
    ['a name that is no text', configMap({ name: 3 }), /metadata.name/],
    ['no metadata', doc({ apiVersion: 'v1', kind: 'ConfigMap' }), /metadata/],
    ['a text in place of an object', '---\nhello\n', /an object/],
    [
      'a List of one kind',
      doc({ apiVersion: 'v1', kind: 'ConfigMapList', items: [] }),
      /ConfigMapList/,
    ],
    [
      'a forged release, by type',
      doc({
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'helm.sh/release.v1',
        metadata: { name: 'a' },
      }),
      /record of a Helm release/,
    ],
    [
      'a forged release, by name',
      doc({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sh.helm.release.v1.x.v9' } }),
      /record of a Helm release/,
    ],
    ['the same object twice', configMap({ name: 'a' }).repeat(2), /ConfigMap shop\/a twice/],
    ['labels that are a list', configMap({ name: 'a', labels: ['x'] }), /metadata.labels/],
  ];

  test.each(cases)('%s', (_what, text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        reason: 'ForbiddenObject',
        message: expect.stringMatching(message),
      }),
    );
  });

  test('what is inside a list, too', () => {
    const items = [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }];
    expect(() => read(doc({ apiVersion: 'v1', kind: 'List', items }))).toThrow(/Node n/);
  });

  test('cluster-scoped objects, unless they are allowed; then they have no namespace', () => {
    const role = doc({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
    });
    const allowed = [
      {
        group: 'rbac.authorization.k8s.io',
        version: 'v1',
        kind: 'ClusterRole',
        plural: 'clusterroles',
        scope: 'Cluster',
      },
    ] as const;
    expect(() => read(role)).toThrow(/ClusterRole reader/);
    const [object] = readManifest(role, { namespace: 'shop', allowed });
    expect(object?.ref.namespace).toBe('');
    expect(object?.body.metadata).toEqual({ name: 'reader' });
  });
});

test('the digest of a manifest does not depend on the order of objects or keys', () => {
  const [one, two] = [{ a: 1, b: { c: 2, d: 3 } }, { e: 4 }];
  const stored = `---\n# Source: x\n{"e": 4}\n---\n# Source: y\nb: {d: 3, c: 2}\na: 1\n`;
  expect(storedManifestDigest(stored)).toBe(manifestDigest([one, two]));
  expect(manifestDigest([one])).not.toBe(manifestDigest([one, two]));
});

describe('a manifest that Helm has stored', () => {
  test('keeps who its objects belong to', () => {
    const ownerReferences = [{ kind: 'Shop', name: 's', uid: 'u', controller: true }];
    const [object] = readStoredManifest(configMap({ name: 'a', ownerReferences }), rules);
    expect(object?.body.metadata).toMatchObject({ ownerReferences });
  });

  test('leaves out what is no longer allowed', () => {
    const node = doc({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const found = readStoredManifest(node + configMap({ name: 'a' }), rules);
    expect(found.map(({ ref }) => ref.name)).toEqual(['a']);
  });
});
