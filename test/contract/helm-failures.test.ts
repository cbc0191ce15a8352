import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANNOTATION_RECONCILE_REQUESTED_AT } from '../../runtime/annotations.ts';
import {
  type ChartFiles,
  configMapTemplate,
  createTestChart,
  hookTemplate,
  serviceTemplate,
  type TestChart,
} from '../helpers/helm-chart.ts';
import {
  configMaps,
  type HelmPlane,
  type HelmWorldOptions,
  jobs,
  services,
  startHelmPlane,
} from '../helpers/helm-plane.ts';
import { createTestClock } from '../helpers/runtime-world.ts';

let plane: HelmPlane;
const charts: TestChart[] = [];

beforeAll(async () => {
  plane = await startHelmPlane();
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all(charts.map((chart) => chart.remove()));
});

async function worldWith(files: ChartFiles, options: HelmWorldOptions = {}) {
  const chart = await createTestChart(files);
  charts.push(chart);
  return { ...plane.world(chart.folder, options), chart };
}

const simple: ChartFiles = {
  'templates/config.yaml': configMapTemplate,
  'templates/service.yaml': serviceTemplate,
};

const canary = 'canary-hunter2';

describe('a bad chart is refused with a reason, and nothing is applied', () => {
  const role = (metadata: object, more: object = {}) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata,
    ...more,
  });
  const cases: readonly (readonly [string, ChartFiles, string, RegExp])[] = [
    [
      'it-fails',
      { 'templates/a.yaml': 'x: {{ required "a colour is needed" .Values.none }}' },
      'RenderFailed',
      /templates\/a.yaml.*a colour is needed/,
    ],
    ['no-template', { 'templates/a.yaml': 'x: {{ if }}' }, 'RenderFailed', /templates\/a.yaml:1/],
    [
      'no-yaml',
      { 'templates/a.yaml': 'kind: X\n  a: {{ .Values.secret }}: b\n' },
      'RenderFailed',
      /templates\/a.yaml/,
    ],
    [
      'quotes-values',
      { 'templates/a.yaml': 'x: {{ fail (printf "bad %s" .Values.secret) }}' },
      'RenderFailed',
      /bad \(hidden\)/,
    ],
    [
      'schema',
      {
        ...simple,
        'values.schema.json': {
          type: 'object',
          properties: { secret: { type: 'string', pattern: '^x' } },
        },
      },
      'InvalidValues',
      /at '\/secret'/,
    ],
    [
      'binding',
      { ...simple, 'templates/b.yaml': role({ name: 'root' }) },
      'ForbiddenObject',
      /ClusterRoleBinding root/,
    ],
    [
      'hook-binding',
      {
        ...simple,
        'templates/b.yaml': role({
          name: 'root',
          annotations: { 'helm.sh/hook': 'pre-install' },
        }),
      },
      'ForbiddenObject',
      /ClusterRoleBinding root/,
    ],
    [
      'crd',
      {
        ...simple,
        'crds/a.yaml': {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'things.example.com' },
        },
      },
      'ForbiddenObject',
      /CustomResourceDefinition things.example.com/,
    ],
    [
      'elsewhere',
      {
        'templates/a.yaml': {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', namespace: 'kube-system' },
        },
      },
      'ForbiddenObject',
      /ConfigMap a .*"kube-system"/,
    ],
    ['no-chart', { 'Chart.yaml': 'name: [' }, 'RenderFailed', /Chart.yaml/],
    [
      'needs-dependency',
      {
        ...simple,
        'Chart.yaml': {
          apiVersion: 'v2',
          name: 'tested',
          version: '1.0.0',
          dependencies: [
            { name: 'other', version: '1.x', repository: 'https://charts.example.com' },
          ],
        },
      },
      'RenderFailed',
      /dependencies/,
    ],
    [
      'needs-memory',
      { 'templates/a.yaml': '{{ range until 900 }}{{ repeat 1000000 "x" }}{{ end }}' },
      'RenderFailed',
      /memory/,
    ],
  ];

  test.each(cases)('%s', async (name, files, reason, message) => {
    const world = await worldWith(files);
    await plane.create(name, { secret: canary });
    const answer = await world.byHand(name);
    expect(answer.outcome).toBe('terminal');
    expect(answer.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'Ready',
          status: 'False',
          reason,
          message: expect.stringMatching(message),
        }),
        expect.objectContaining({ type: 'Irreconcilable', status: 'True', reason }),
        expect.objectContaining({ type: 'Deployed', status: 'False' }),
      ]),
    );
    expect(await plane.revisions(name)).toEqual([]);
    expect(await plane.get(configMaps, name)).toBeUndefined();
    const seen = JSON.stringify([answer, world.lines, await plane.eventsOf(name)]);
    expect(seen).not.toContain(canary);
  });

  test('a name that is too long for a release, with its length', async () => {
    const world = await worldWith(simple);
    const name = 'n'.repeat(63);
    await plane.create(name);
    const { conditions } = await world.byHand(name);
    expect(conditions).toContainEqual(
      expect.objectContaining({
        type: 'Ready',
        reason: 'InvalidName',
        message: expect.stringMatching(/at most 53 characters.*63/),
      }),
    );
  });

  test('a chart that looks at the cluster while it is rendered finds nothing', async () => {
    const world = await worldWith({
      'templates/a.yaml': `apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}" }
data: { found: {{ lookup "v1" "Secret" "default" "" | len | quote }} }
`,
    });
    await plane.create('nosy');
    await world.byHand('nosy');
    expect(await plane.get(configMaps, 'nosy')).toMatchObject({ data: { found: '0' } });
  });
});

describe('a release that fails', () => {
  test('to install is removed again', async () => {
    const world = await worldWith(simple);
    await plane.create('noinstall', { port: 700_000 });
    const answer = await world.byHand('noinstall');
    expect(answer.conditions).toContainEqual(
      expect.objectContaining({
        type: 'ReleaseFailed',
        status: 'True',
        message: expect.stringMatching(/port.*removed again; tried again soon/i),
      }),
    );
    expect(await plane.revisions('noinstall')).toEqual([]);
    expect(await plane.get(configMaps, 'noinstall')).toBeUndefined();
  });

  test('to upgrade is rolled back: the old one stays, and the status says so', async () => {
    const clock = createTestClock();
    const world = await worldWith(simple, { clock });
    await plane.create('noupgrade', { colour: 'blue' });
    await world.byHand('noupgrade');
    await plane.patch('noupgrade', { spec: { colour: 'green', port: 700_000 } });
    const first = await world.byHand('noupgrade');
    expect(first).toMatchObject({
      outcome: 'waiting',
      status: { deployedRelease: { revision: 3 }, failedAttempts: { count: 1 } },
    });
    expect(first.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'Deployed', status: 'True' }),
        expect.objectContaining({ type: 'ReleaseFailed', status: 'True' }),
        expect.objectContaining({ type: 'Ready', status: 'False', reason: 'ReleaseFailed' }),
      ]),
    );
    expect(await plane.get(configMaps, 'noupgrade')).toMatchObject({ data: { colour: 'blue' } });
    expect(await plane.get(services, 'noupgrade')).toMatchObject({
      spec: { ports: [{ port: 80 }] },
    });
    expect(await plane.revisions('noupgrade')).toEqual(['1 superseded', '2 failed', '3 deployed']);

    // At once it is too early for the next try, but not for the repair of what is there.
    const config = { kind: configMaps, namespace: 'default', name: 'noupgrade' };
    await plane.admin.mergePatch(config, { data: { colour: 'grey' } });
    await world.byHand('noupgrade');
    expect(await plane.revisions('noupgrade')).toHaveLength(3);
    expect(await plane.get(configMaps, 'noupgrade')).toMatchObject({ data: { colour: 'blue' } });

    for (const seconds of [30, 30]) {
      clock.ahead += seconds * 1000;
      await world.byHand('noupgrade');
    }
    const revisions = await plane.revisions('noupgrade');
    clock.ahead += 300_000;
    const given = await world.byHand('noupgrade');
    expect(given.outcome).toBe('terminal');
    expect(given.reason).toMatch(/tried 3 times.*reconcile-requested-at/);
    expect(await plane.revisions('noupgrade')).toEqual(revisions);

    const metadata = { annotations: { [ANNOTATION_RECONCILE_REQUESTED_AT]: 'now' } };
    await plane.patch('noupgrade', { metadata });
    await world.byHand('noupgrade');
    expect((await plane.revisions('noupgrade')).length).toBeGreaterThan(revisions.length);

    await plane.patch('noupgrade', { spec: { port: 81 } });
    const good = await world.byHand('noupgrade');
    expect(good.status).not.toHaveProperty('failedAttempts');
    expect(good.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'ReleaseFailed', status: 'False' }),
        expect.objectContaining({ type: 'Ready', status: 'True' }),
      ]),
    );
  });

  test('by a hook that never ends, ends in time and leaves nothing', async () => {
    const files = { ...simple, 'templates/hook.yaml': hookTemplate('pre-install') };
    const world = await worldWith(files, { seconds: 6 });
    await plane.create('endless');
    const answer = await world.byHand('endless');
    expect(answer.conditions).toContainEqual(
      expect.objectContaining({ type: 'ReleaseFailed', status: 'True' }),
    );
    expect(await plane.revisions('endless')).toEqual([]);
    expect(await plane.get(jobs, 'endless-hook')).toBeUndefined();
  });
});

describe('the end of an object', () => {
  test('removes its release and all of it', async () => {
    const world = await worldWith(simple);
    await plane.create('ended');
    await world.byHand('ended');
    await plane.admin.delete(plane.ref('ended'), {});
    const plan = await world.byHand('ended', { dryRun: true });
    expect(plan.plan).toMatchObject([{ action: 'delete' }, { action: 'delete' }]);
    await world.byHand('ended');
    expect(await plane.admin.get(plane.ref('ended'))).toBeUndefined();
    expect(await plane.revisions('ended')).toEqual([]);
    expect(await plane.get(configMaps, 'ended')).toBeUndefined();
    expect(await plane.get(services, 'ended')).toBeUndefined();
  });

  test('is no trouble if the release is gone already', async () => {
    const world = await worldWith(simple);
    await plane.create('gone');
    await world.byHand('gone');
    await plane.helm('uninstall', 'gone');
    await plane.admin.delete(plane.ref('gone'), {});
    await world.byHand('gone');
    expect(await plane.admin.get(plane.ref('gone'))).toBeUndefined();
  });

  test('does not wait for a hook that never ends, and the user is told', async () => {
    const files = { ...simple, 'templates/hook.yaml': hookTemplate('pre-delete') };
    const world = await worldWith(files, { seconds: 6 });
    await plane.create('clinging');
    await world.byHand('clinging');
    await plane.admin.delete(plane.ref('clinging'), {});
    await world.byHand('clinging');
    expect(await plane.admin.get(plane.ref('clinging'))).toBeUndefined();
    expect(await plane.revisions('clinging')).toEqual([]);
    expect(await plane.get(jobs, 'clinging-hook')).toBeUndefined();
    expect((await plane.eventsOf('clinging')).map(({ reason }) => reason)).toContain(
      'HooksSkipped',
    );
  });
});
