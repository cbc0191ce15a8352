import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesBetween, differences } from '../../runtime/children/differences.ts';
import { isRecord } from '../../runtime/untrusted.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), json, { maxKeys: 5 });
const paths = (changes: readonly { readonly path: string }[]) => changes.map(({ path }) => path);

/** With a field of somebody else in every map. */
const withForeign = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withForeign);
  if (!isRecord(value)) return value;
  const own = Object.entries(value).map(([name, part]) => [name, withForeign(part)]);
  return Object.fromEntries([...own, ['ZZ', { theirs: true }]]) as Json;
};

type Place = readonly (string | number)[];

/** Where the values are that are neither maps nor lists. */
const leavesOf = (value: Json, at: Place = []): readonly Place[] => {
  if (Array.isArray(value)) return value.flatMap((part, index) => leavesOf(part, [...at, index]));
  if (!isRecord(value)) return [at];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...at, name]));
};

const at = (value: Json, place: Place): Json =>
  place.reduce<Json>(
    (part, step) => (part as Readonly<Record<string | number, Json>>)[step] ?? null,
    value,
  );

const changedAt = (value: Json, [step, ...rest]: Place, leaf: Json): Json => {
  if (step === undefined) return leaf;
  const inner = changedAt(at(value, [step]), rest, leaf);
  return Array.isArray(value)
    ? value.with(Number(step), inner)
    : { ...(value as object), [step]: inner };
};

describe('differences', () => {
  test('are none between any value and itself', () => {
    fc.assert(
      fc.property(json, (value) => differences(value, structuredClone(value)).length === 0),
    );
  });

  test('are none in fields that others have added', () => {
    fc.assert(fc.property(object, (value) => differences(value, withForeign(value)).length === 0));
  });

  test('are found in any field of ours that was changed, and only there', () => {
    const changed = object.chain((value) => {
      const places = leavesOf(value).filter(
        (place) => place.length > 0 && at(value, place) !== null,
      );
      return fc.record({
        value: fc.constant(value),
        place: places.length === 0 ? fc.constant(undefined) : fc.constantFrom(...places),
      });
    });
    fc.assert(
      fc.property(changed, ({ value, place }) => {
        if (!place) return;
        const live = changedAt(value, place, 'somebody was here');
        const found = differences(value, live);
        expect(found).toHaveLength(1);
        expect(found[0]).toMatchObject({ from: 'somebody was here', to: at(value, place) });
      }),
    );
  });

  test('tell the place, what is there and what should be', () => {
    const wanted = { spec: { replicas: 3, template: { metadata: { labels: { app: 'x' } } } } };
    const live = { spec: { replicas: 1, template: { metadata: { labels: {} } } }, status: {} };
    expect(differences(wanted, live)).toEqual([
      { path: 'spec.replicas', from: 1, to: 3 },
      { path: 'spec.template.metadata.labels.app', to: 'x' },
    ]);
  });

  test.each([
    ['an empty map', { spec: { nodeSelector: {} } }],
    ['a map of empty maps', { spec: { strategy: { rollingUpdate: {} } } }],
    ['an empty list', { spec: { tolerations: [] } }],
    ['an empty text', { spec: { schedulerName: '' } }],
    ['false', { spec: { hostNetwork: false } }],
    ['zero', { spec: { minReadySeconds: 0 } }],
    ['null', { spec: { nodePort: null } }],
  ])('do not count what the API server leaves out: %s', (_what, wanted) => {
    expect(differences(wanted, { spec: {} })).toEqual([]);
    expect(differences(wanted, {})).toEqual([]);
  });

  test.each([
    [{ spec: { template: { spec: { automountServiceAccountToken: false } } } }],
    [{ spec: { template: { spec: { volumes: [{ name: 'a', emptyDir: {} }] } } } }],
    [{ spec: { ttlSecondsAfterFinished: 0 } }],
    [{ spec: { ingress: [{ from: [{ podSelector: {} }] }] } }],
    [{ data: { key: '' } }],
    [{ metadata: { labels: { key: '' } } }],
    [{ metadata: { annotations: { key: '' } } }],
  ])('count where absence means something else: %j', (wanted) => {
    const stripped = JSON.parse(
      JSON.stringify(wanted, (name, value: unknown) =>
        /^(automount.*|emptyDir|ttl.*|podSelector|key)$/.test(name) ? undefined : value,
      ),
    ) as unknown;
    expect(differences(wanted, stripped)).toHaveLength(1);
  });

  test('count where the field is there with another value', () => {
    const live = { spec: { paused: true, schedulerName: 'x', nodePort: 30_000 } };
    const found = differences({ spec: { paused: false, schedulerName: '', nodePort: 0 } }, live);
    expect(paths(found)).toEqual(['spec.paused', 'spec.schedulerName', 'spec.nodePort']);
  });

  test('have no opinion where the template has none', () => {
    expect(differences({ spec: { nodePort: null } }, { spec: { nodePort: 30_000 } })).toEqual([]);
  });
});

describe('lists', () => {
  const pod = (spec: object) => ({ spec: { template: { spec } } });
  const at = 'spec.template.spec';

  test.each([
    [
      'containers',
      [{ name: 'a', image: 'x' }],
      [{ name: 'sidecar' }, { name: 'a', image: 'y' }],
      'containers[name=a].image',
    ],
    ['initContainers', [{ name: 'a', image: 'x' }], [{ name: 'b' }], 'initContainers[name=a]'],
    [
      'hostAliases',
      [{ ip: '::1', hostnames: ['a'] }],
      [{ ip: '::1', hostnames: ['b'] }, { ip: '::2' }],
      'hostAliases[ip=::1].hostnames[0]',
    ],
    ['tolerations', [{ key: 'a' }], [{ key: 'a' }, { key: 'b' }], 'tolerations'],
  ])('%s are compared as server-side apply merges them', (name, wanted, live, path) => {
    expect(paths(differences(pod({ [name]: wanted }), pod({ [name]: live })))).toEqual([
      `${at}.${path}`,
    ]);
  });

  test('of ports are told apart by number and protocol, of mounts by path', () => {
    const container = (ports: object[], volumeMounts: object[]) =>
      pod({ containers: [{ name: 'a', ports, volumeMounts }] });
    const wanted = container([{ containerPort: 53 }], [{ name: 'v', mountPath: '/a' }]);
    const live = container(
      [
        { containerPort: 53, protocol: 'UDP' },
        { containerPort: 53, protocol: 'TCP' },
      ],
      [
        { name: 'v', mountPath: '/b' },
        { name: 'v', mountPath: '/a' },
      ],
    );
    expect(differences(wanted, live)).toEqual([]);
    const gone = container([{ containerPort: 53, protocol: 'UDP' }], []);
    expect(paths(differences(wanted, gone))).toEqual([
      `${at}.containers[name=a].ports[containerPort=53,protocol=TCP]`,
      `${at}.containers[name=a].volumeMounts[mountPath=/a]`,
    ]);
  });

  test('that belong to one writer are compared as a whole: an added subject of a binding is found', () => {
    const subject = { kind: 'User', name: 'a' };
    const added = { kind: 'User', name: 'intruder' };
    expect(paths(differences({ subjects: [subject] }, { subjects: [subject, added] }))).toEqual([
      'subjects',
    ]);
    const wanted = { spec: { ingress: [{ ports: [{ port: 80 }] }] } };
    const live = { spec: { ingress: [{ ports: [{ port: 80 }, { port: 22 }] }] } };
    expect(paths(differences(wanted, live))).toEqual(['spec.ingress[0].ports']);
  });

  test('in which a key is missing or twice are compared as a whole', () => {
    const containers = (...list: object[]) => pod({ containers: list });
    expect(
      paths(differences(containers({ name: 'a' }), containers({ name: 'a' }, { name: 'a' }))),
    ).toEqual([`${at}.containers`]);
    expect(paths(differences(containers({ name: 'a' }), containers({ name: 'a' }, {})))).toEqual([
      `${at}.containers`,
    ]);
  });

  test('of owners leave those of others alone', () => {
    const ours = { name: 'x', uid: '1', controller: true };
    const theirs = { name: 'x', uid: '2' };
    const metadata = (ownerReferences: object[]) => ({ metadata: { ownerReferences } });
    expect(differences(metadata([ours]), metadata([theirs, ours]))).toEqual([]);
    expect(paths(differences(metadata([ours]), metadata([theirs])))).toEqual([
      'metadata.ownerReferences[uid=1]',
    ]);
  });
});

describe('changes between two versions', () => {
  test('are told in both directions', () => {
    const before = { spec: { replicas: 1, paused: false, gone: { a: 1 } }, data: { empty: '' } };
    const after = { spec: { replicas: 2, made: 'x' }, data: {} };
    expect(changesBetween(before, after)).toEqual([
      { path: 'spec.replicas', from: 1, to: 2 },
      { path: 'spec.made', to: 'x' },
      { path: 'spec.paused', from: false },
      { path: 'spec.gone', from: { a: 1 } },
      { path: 'data.empty', from: '' },
    ]);
  });

  test('are none between any object and itself, and some between any two that differ', () => {
    fc.assert(fc.property(object, (value) => changesBetween(value, value).length === 0));
    fc.assert(
      fc.property(object, object, (one, other) => {
        const differ = JSON.stringify(sorted(one)) !== JSON.stringify(sorted(other));
        expect(changesBetween(one, other).length > 0).toBe(differ);
      }),
    );
  });
});

const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, part]) => [name, sorted(part)] as const);
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
