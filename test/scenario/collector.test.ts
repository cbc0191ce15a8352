import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { type ArchiveEntry, chartYaml } from '../helpers/collector-archive.ts';
import {
  availableIn,
  type CollectorSystem,
  encoded,
  kinds,
  specFor,
  startCollectorSystem,
} from '../helpers/collector-system.ts';
import { until } from '../helpers/until.ts';

let system: CollectorSystem;

beforeAll(async () => {
  system = await startCollectorSystem();
});

afterAll(() => system?.stop());

const sampleOf = (file: string) =>
  parse(readFileSync(new URL(`../../crds/samples/${file}`, import.meta.url), 'utf8')) as {
    readonly metadata: { readonly name: string };
    readonly spec: object;
  };

const deployment = async (namespace: string, name = 'collector-sample-one') =>
  (await system.admin.get({ kind: kinds.deployment, namespace, name })) as
    | KubeObject<{ readonly replicas: number }>
    | undefined;

const becomes = <T>(ask: () => Promise<T | undefined>, what: string) =>
  until(ask, { seconds: 60, what: async () => what });

describe.each(['collector.yaml', 'collector-development.yaml'])('the sample %s', (file) => {
  const { metadata, spec } = sampleOf(file);

  test('becomes available, is edited, repaired and deleted, and leaves only the namespace', async () => {
    await system.create(metadata.name, spec);
    const { release, chart } = await system.isAvailable(metadata.name);
    expect(chart?.digest).toMatch(/^[\da-f]{64}$/);
    const { name = '', namespace = '' } = release ?? {};
    expect(await deployment(namespace, name)).toMatchObject({
      metadata: { annotations: { 'podless.dev/owner': `default/${metadata.name}` } },
    });

    await system.patch(metadata.name, { collector: { configuration: encoded('replicas: 3') } });
    await system.reaches(metadata.name, (state) => state.release?.revision === 2);
    expect((await deployment(namespace, name))?.spec?.replicas).toBe(3);
    await system.isAvailable(metadata.name);

    await system.admin.delete({ kind: kinds.deployment, namespace, name }, {});
    await becomes(() => deployment(namespace, name), 'the Deployment to be back');

    await system.remove(metadata.name);
    await becomes(
      async () => ((await system.contentsOf(namespace)).length === 0 ? true : undefined),
      'everything to be gone',
    );
    expect(
      await system.admin.get({ kind: kinds.namespace, namespace: '', name: namespace }),
    ).toBeDefined();
  });
});

describe('a collector', () => {
  test('tells of every step by Events, and in the columns of kubectl', async () => {
    await system.create('steps', specFor('steps'));
    await system.isAvailable('steps');
    const once = ['ChartFetched', 'NamespaceCreated', 'ReleaseInstalled'];
    // The last Event follows the status that it tells of.
    const reasons = await becomes(async () => {
      const told = (await system.eventsOf('steps')).map(({ reason }) => reason);
      return told.includes('Deployed') ? told : undefined;
    }, 'the Event of its being deployed');
    // Available and Ready say the same, which is told once.
    expect(reasons.filter((reason) => reason === 'Deployed')).toHaveLength(1);
    expect(reasons.filter((reason) => once.includes(reason))).toEqual(once);
    expect(reasons).toContain('Installing');
    expect(await system.columnsOf('steps')).toMatchObject({
      Name: 'steps',
      Status: 'True',
      Reason: 'Deployed',
      Age: expect.any(String),
      Message: 'release steps/collector-sample-one is deployed and ready',
    });
    const namespace = await system.admin.get({
      kind: kinds.namespace,
      namespace: '',
      name: 'steps',
    });
    expect(namespace?.metadata.labels).toMatchObject({
      'podless.dev/operator': 'collector',
      'podless.dev/tenant': 'id-of-steps',
    });
  });

  test('that is in order is looked at without a write, and its chart is not fetched again', async () => {
    await system.create('quiet', specFor('quiet', '', { version: '1.1.0' }));
    await system.isAvailable('quiet');
    await system.byHand('quiet');
    const before = await system.get('quiet');
    const secrets = await system.contentsOf('quiet');
    for (let look = 0; look < 3; look += 1) await system.byHand('quiet');
    expect(await system.get('quiet')).toEqual(before);
    expect(await system.contentsOf('quiet')).toEqual(secrets);
    const reads = system.s3.readsOf('charts/collector-sample-1.1.0.tgz');
    // Once for each of the few environments there are.
    expect(reads.filter(({ status }) => status === 200).length).toBeLessThan(4);
  });

  test('leaves the labels of a namespace that is there alone', async () => {
    const metadata = { name: 'others', labels: { team: 'them' } };
    await system.admin.create(kinds.namespace, '', { metadata });
    await system.create('guest', specFor('others'));
    await system.isAvailable('guest');
    const found = await system.admin.get({ kind: kinds.namespace, namespace: '', name: 'others' });
    expect(found?.metadata.labels).toEqual({
      'kubernetes.io/metadata.name': 'others',
      team: 'them',
    });
    expect((await system.eventsOf('guest')).map(({ reason }) => reason)).not.toContain(
      'NamespaceCreated',
    );
  });

  test('moves when its tenant changes, and leaves nothing in the old namespace', async () => {
    await system.create('mover', specFor('old-home', 'token: abcdefgh'));
    await system.isAvailable('mover');
    expect(await system.contentsOf('old-home')).toHaveLength(4);
    await system.patch('mover', { tenant: { reference: 'New-Home' } });
    const { release, releases } = await system.isAvailable('mover');
    expect(release).toMatchObject({ namespace: 'new-home', revision: 1 });
    expect(releases).toEqual([{ name: 'collector-sample-one', namespace: 'new-home' }]);
    expect(await system.contentsOf('old-home')).toEqual([]);
    expect(await system.contentsOf('new-home')).toHaveLength(4);
    const reasons = (await system.eventsOf('mover')).map(({ reason }) => reason);
    expect(reasons.indexOf('ReleaseRemoved')).toBeLessThan(reasons.lastIndexOf('ReleaseInstalled'));
  });

  test('moves when its instance changes', async () => {
    await system.create('renamed', specFor('renamed'));
    await system.isAvailable('renamed');
    await system.patch('renamed', { tenant: { instance: 'two' } });
    await system.isAvailable('renamed');
    expect((await system.contentsOf('renamed')).filter((title) => title.includes('-one'))).toEqual(
      [],
    );
    expect(await deployment('renamed', 'collector-sample-two')).toBeDefined();
  });

  test('that cannot move stays where it is, and goes with the object', async () => {
    await system.create('stuck', specFor('stuck'));
    await system.isAvailable('stuck');
    await system.patch('stuck', {
      collector: { configuration: encoded('replicas: 11') },
      tenant: { reference: 'stuck-too' },
    });
    await system.fails('stuck', 'InvalidValues');
    expect(await deployment('stuck')).toBeDefined();
    expect(await system.contentsOf('stuck-too')).toEqual([]);
    await system.remove('stuck');
    expect(await system.contentsOf('stuck')).toEqual([]);
  });

  test('is upgraded to another version of its chart', async () => {
    await system.create('versioned', specFor('versioned'));
    const before = await system.isAvailable('versioned');
    await system.patch('versioned', { collector: { version: '1.1.0' } });
    const after = await system.reaches('versioned', ({ release }) => release?.revision === 2);
    expect(after.chart?.key).toBe('charts/collector-sample-1.1.0.tgz');
    expect(after.chart?.digest).not.toBe(before.chart?.digest);
  });

  test('is upgraded when another chart is uploaded in the place of its own', async () => {
    const chart = (colour: string): readonly ArchiveEntry[] => [
      chartYaml('replaced'),
      [
        'replaced/templates/config.yaml',
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}"}, data: {colour: ${colour}}}`,
      ],
    ];
    await system.s3.putChart('replaced', '1.0.0', chart('red'));
    await system.create('replaced', specFor('replaced', '', { name: 'replaced' }));
    await system.isAvailable('replaced');
    await system.s3.putChart('replaced', '1.0.0', chart('blue'));
    await system.poke('replaced');
    await system.reaches('replaced', ({ release }) => release?.revision === 2);
    const ref = { kind: kinds.configMap, namespace: 'replaced', name: 'replaced-one' };
    expect(await system.admin.get(ref)).toMatchObject({ data: { colour: 'blue' } });
  });

  test('is not available while its workloads are not ready, and says which', async () => {
    await system.s3.putChart('picky', '1.0.0', pickyChart);
    await system.create('picky', specFor('picky', 'node: nowhere', { name: 'picky' }));
    const { message } = await system.fails('picky', 'WorkloadNotReady');
    expect(message).toContain('picky-one');
    await system.patch('picky', { collector: { configuration: '' } });
    await system.isAvailable('picky');
  });

  test('whose release is taken by another one says by which, and has it when that one goes', async () => {
    await system.create('first', specFor('shared'));
    await system.isAvailable('first');
    await system.create('second', specFor('shared', 'replicas: 2'));
    const { message } = await system.fails('second', 'Conflict');
    expect(message).toContain('shared/collector-sample-one');
    expect(message).toContain('default/first');
    expect(availableIn(await system.status('first'))?.status).toBe('True');
    await system.remove('first');
    await system.poke('second');
    await system.isAvailable('second');
    expect((await deployment('shared'))?.spec?.replicas).toBe(2);
  });
});

/** Its pod runs only on the node that its values name, if they do. */
const pickyChart: readonly ArchiveEntry[] = [
  chartYaml('picky'),
  [
    'picky/templates/deployment.yaml',
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: picky}}
  template:
    metadata: {labels: {app: picky}}
    spec:
      {{- with .Values.node }}
      nodeSelector: {kubernetes.io/hostname: "{{ . }}"}
      {{- end }}
      containers: [{name: app, image: busybox}]
`,
  ],
];
