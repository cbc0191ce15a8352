import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ArchiveEntry, chartYaml, tarOf } from '../helpers/collector-archive.ts';
import {
  type CollectorSystem,
  encoded,
  kinds,
  specFor,
  startCollectorSystem,
} from '../helpers/collector-system.ts';
import { until } from '../helpers/until.ts';

/** In every configuration of this file; nobody but the chart may ever see it. */
const CANARY = 'canary-4f1c9a-secret';
const secretly = (yaml = '') => `token: ${CANARY}\n${yaml}`;

let system: CollectorSystem;

beforeAll(async () => {
  system = await startCollectorSystem();
  await system.create('neighbour', specFor('neighbour', secretly()));
  await system.isAvailable('neighbour');
});

afterAll(() => system?.stop());

const base64 = (value: string | Buffer) => Buffer.from(value).toString('base64');

const bomb = [
  `a0: &a0 [${CANARY}]`,
  ...Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(8)}]`),
].join('\n');

interface Refused {
  readonly collector?: object;
  readonly tenant?: object;
  readonly reason: string;
  readonly message: string;
}

const badSpecs: Readonly<Record<string, Refused>> = {
  'not-base64': {
    collector: { configuration: `token: ${CANARY}` },
    reason: 'InvalidConfiguration',
    message: 'spec.collector.configuration must be base64',
  },
  'not-yaml': {
    collector: { configuration: base64(`a: [${CANARY}`) },
    reason: 'InvalidConfiguration',
    message: 'spec.collector.configuration must be plain YAML',
  },
  'yaml-bomb': {
    collector: { configuration: base64(bomb) },
    reason: 'InvalidConfiguration',
    message: 'must hold at most 10000 values',
  },
  'too-deep': {
    collector: { configuration: base64(`${'['.repeat(30_000)}${CANARY}`) },
    reason: 'InvalidConfiguration',
    message: 'at most 20 deep',
  },
  pollution: {
    collector: { configuration: base64(`__proto__: {token: ${CANARY}}`) },
    reason: 'InvalidConfiguration',
    message: 'forbidden key (line 1, column 1)',
  },
  'too-large': {
    collector: { configuration: base64(`a: ${CANARY.repeat(4_000)}`) },
    reason: 'InvalidConfiguration',
    message: 'at most 64 KB',
  },
  'bad-name': {
    collector: { name: '../../../etc/passwd' },
    reason: 'InvalidSpec',
    message:
      'spec.collector.name must be a name of 1 to 53 lower-case letters, digits or "-", got "../../../etc/passwd"',
  },
  'long-name': {
    collector: { name: 'a'.repeat(63) },
    reason: 'InvalidSpec',
    message: 'spec.collector.name must be',
  },
  'bad-version': {
    collector: { version: '1.0.0/../../x' },
    reason: 'InvalidSpec',
    message: 'spec.collector.version must be a semantic version such as 1.2.3, got "1.0.0/../../x"',
  },
  'bad-reference': {
    tenant: { reference: 'no_label' },
    reason: 'InvalidSpec',
    message: 'spec.tenant.reference must be',
  },
  'system-namespace': {
    tenant: { reference: 'KUBE-SYSTEM' },
    reason: 'NamespaceNotAllowed',
    message: 'got "kube-system"',
  },
  'default-namespace': {
    tenant: { reference: 'default' },
    reason: 'NamespaceNotAllowed',
    message: 'got "default"',
  },
};

describe('a collector with a bad spec', () => {
  test.each(Object.entries(badSpecs))(
    '(%s) says which field, and nothing is made',
    async (name, bad) => {
      const spec = specFor(`bad-${name}`, secretly());
      await system.create(name, {
        ...spec,
        collector: { ...spec.collector, ...bad.collector },
        tenant: { ...spec.tenant, ...bad.tenant },
      });
      const { message } = await system.fails(name, bad.reason);
      expect(message).toContain(bad.message);
      expect(
        await system.admin.get({ kind: kinds.namespace, namespace: '', name: `bad-${name}` }),
      ).toBeUndefined();
    },
  );

  test('is healed by a good one alone, and can be deleted before that', async () => {
    await system.patch('not-base64', { collector: { configuration: encoded(secretly()) } });
    await system.isAvailable('not-base64');
    await system.remove('bad-name');
  });

  test('leaves a release that runs as it is', async () => {
    await system.create('turned-bad', specFor('turned-bad', secretly()));
    const before = await system.isAvailable('turned-bad');
    await system.patch('turned-bad', { collector: { configuration: base64(bomb) } });
    await system.fails('turned-bad', 'InvalidConfiguration');
    expect(await system.contentsOf('turned-bad')).toHaveLength(4);
    await system.patch('turned-bad', { collector: { configuration: encoded(secretly()) } });
    const after = await system.isAvailable('turned-bad');
    expect(after.release).toEqual(before.release);
  });
});

const template = (name: string, text: string): ArchiveEntry => [
  `evil/templates/${name}.yaml`,
  text,
];

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {token: "{{ .Values.token }}"}
`;

const badCharts: Readonly<
  Record<
    string,
    { readonly entries: readonly ArchiveEntry[]; readonly reason: string; readonly message: string }
  >
> = {
  symlink: {
    entries: [
      chartYaml('evil'),
      ['evil/values.yaml', { type: 'symlink', linkname: '/etc/passwd' }],
    ],
    reason: 'InvalidChart',
    message: '"evil/values.yaml" (symlink)',
  },
  'path-out': {
    entries: [chartYaml('evil'), ['evil/../../outside', 'x']],
    reason: 'InvalidChart',
    message: '"evil/../../outside"',
  },
  'cluster-role': {
    entries: [
      chartYaml('evil'),
      template('config', configMap),
      template(
        'binding',
        `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: own-the-cluster}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: default, namespace: "{{ .Release.Namespace }}"}]
`,
      ),
    ],
    reason: 'ForbiddenObject',
    message: 'ClusterRoleBinding own-the-cluster',
  },
  'other-namespace': {
    entries: [
      chartYaml('evil'),
      template('config', configMap.replace('metadata: {', 'metadata: {namespace: kube-system, ')),
    ],
    reason: 'ForbiddenObject',
    message: 'kube-system',
  },
  'does-not-render': {
    entries: [chartYaml('evil'), template('config', '{{ fail (printf "no %s" .Values.token) }}')],
    reason: 'RenderFailed',
    message: '',
  },
};

describe('a collector with a bad chart', () => {
  test.each(Object.entries(badCharts))(
    '(%s) says what is wrong, and nothing is applied',
    async (name, chart) => {
      const { entries, reason } = chart;
      await system.s3.putChart(`chart-${name}`, '1.0.0', entries);
      await system.create(
        `chart-${name}`,
        specFor(`chart-${name}`, secretly(), { name: `chart-${name}` }),
      );
      const { message } = await system.fails(`chart-${name}`, reason);
      expect(message).toContain(chart.message);
      expect(await system.contentsOf(`chart-${name}`).catch(() => [])).toEqual([]);
    },
  );

  test('takes the good one that is uploaded in its place', async () => {
    await system.s3.putChart('chart-symlink', '1.0.0', [
      chartYaml('evil'),
      template('config', configMap),
    ]);
    await system.poke('chart-symlink');
    await system.isAvailable('chart-symlink');
  });

  test('that is no archive says so', async () => {
    await system.s3.put(
      'production-helm',
      'charts/torn-1.0.0.tgz',
      gzipSync((await tarOf([chartYaml()])).subarray(0, 700)),
    );
    await system.create('torn', specFor('torn', secretly(), { name: 'torn' }));
    expect((await system.fails('torn', 'InvalidChart')).message).toContain(
      'must be a whole tar.gz file',
    );
  });
});

describe('charts that are not to be had', () => {
  test('are waited for: the collector becomes available once its chart is uploaded', async () => {
    await system.create('early', specFor('early', secretly(), { name: 'late-chart' }));
    const { message } = await system.fails('early', 'ChartNotFound');
    expect(message).toContain('s3://production-helm/charts/late-chart-1.0.0.tgz');
    await system.s3.putChart('late-chart', '1.0.0', [
      chartYaml('late-chart'),
      ['late-chart/templates/c.yaml', configMap],
    ]);
    await system.isAvailable('early');
  });

  test('while S3 is away cost only those that need one: the others are repaired as ever', async () => {
    system.s3.switchOff(true);
    try {
      await system.create('unlucky', specFor('unlucky', secretly(), { version: '1.1.0' }));
      expect((await system.fails('unlucky', 'ChartStoreUnavailable')).message).toContain(
        's3://production-helm/charts/collector-sample-1.1.0.tgz',
      );
      const lost = { kind: kinds.deployment, namespace: 'neighbour', name: 'collector-sample-one' };
      await system.admin.delete(lost, {});
      await until(async () => system.admin.get(lost), {
        seconds: 60,
        what: async () => 'the Deployment to be back',
      });
      await system.isAvailable('neighbour');
    } finally {
      system.s3.switchOff(false);
    }
    await system.poke('unlucky');
    await system.isAvailable('unlucky');
  });
});

describe('a secret in a configuration', () => {
  test('is in no log, Event, status, answer or metric, in no spelling', async () => {
    await system.patch('neighbour', {
      collector: { configuration: encoded(secretly('replicas: 99')) },
    });
    await system.fails('neighbour', 'InvalidValues');
    const answers = await Promise.all([
      system.byHand('neighbour'),
      system.byHand('neighbour', { dryRun: true }),
    ]);
    const { items: objects } = await system.admin.list(system.ref('').kind, { limit: 500 });
    const statuses = (objects as { status?: unknown }[]).map(({ status }) => status);
    const { items: events } = await system.admin.list(kinds.event, { limit: 5_000 });
    const metrics = await (await fetch(`${system.http}/metrics`)).text();
    const seen = JSON.stringify([system.lines, answers, statuses, events, metrics]);
    expect(seen.length).toBeGreaterThan(10_000);
    for (const spelling of [
      CANARY,
      CANARY.slice(0, 12),
      base64(CANARY),
      base64(`token: ${CANARY}`).slice(0, 24),
    ])
      expect(seen.includes(spelling), spelling).toBe(false);
    // It did get to the chart: the search would find it.
    const secret = await until(
      async () =>
        system.admin.get({
          kind: kinds.secret,
          namespace: 'neighbour',
          name: 'collector-sample-one',
        }),
      { seconds: 10, what: async () => 'the Secret' },
    );
    expect(JSON.stringify(secret)).toContain(base64(CANARY));
  });
});
