import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import {
  type ChartFiles,
  configMapTemplate,
  createTestChart,
  serviceTemplate,
  type TestChart,
} from '../helpers/helm-chart.ts';
import {
  configMaps,
  type HelmPlane,
  type HelmWorldOptions,
  secrets,
  services,
  startHelmPlane,
} from '../helpers/helm-plane.ts';

let plane: HelmPlane;
const charts: TestChart[] = [];

beforeAll(async () => {
  plane = await startHelmPlane();
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all(charts.map((chart) => chart.remove()));
});

const simple: ChartFiles = {
  'templates/config.yaml': configMapTemplate,
  'templates/service.yaml': `{{- if not .Values.withoutService }}\n${serviceTemplate}{{- end }}\n`,
};

async function worldWith(files: ChartFiles = simple, options: HelmWorldOptions = {}) {
  const chart = await createTestChart(files);
  charts.push(chart);
  return { ...plane.world(chart.folder, options), chart };
}

const dataOf = (object: KubeObject | undefined): unknown =>
  (object as { data?: unknown } | undefined)?.data;

describe('a release', () => {
  test('is installed with the spec as values, as helm itself shows it', async () => {
    const world = await worldWith();
    await plane.create('installed', { colour: 'blue' });
    const answer = await world.byHand('installed');
    expect(answer).toMatchObject({
      outcome: 'done',
      status: { deployedRelease: { name: 'installed', revision: 1 }, observedGeneration: 1 },
    });
    expect(answer.conditions).toMatchObject([
      { type: 'Initialized', status: 'True' },
      { type: 'Deployed', status: 'True', reason: 'InstallSuccessful' },
      { type: 'ReleaseFailed', status: 'False' },
      { type: 'Irreconcilable', status: 'False' },
      { type: 'Ready', status: 'True' },
    ]);
    expect(dataOf(await plane.get(configMaps, 'installed'))).toEqual({ colour: 'blue' });
    const { stdout } = await plane.helm('list', '--output', 'json');
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ name: 'installed', status: 'deployed', chart: 'tested-1.0.0' }),
    );
    const values = await plane.helm('get', 'values', 'installed', '--output', 'json');
    expect(JSON.parse(values.stdout)).toEqual({ colour: 'blue' });
  });

  test('has objects that are marked as its owner’s', async () => {
    const world = await worldWith();
    const { metadata } = await plane.create('marked');
    await world.byHand('marked');
    const config = await plane.get(configMaps, 'marked');
    expect(config?.metadata.labels).toMatchObject({ 'podless.dev/operator': 'minimart' });
    expect(config?.metadata.ownerReferences).toMatchObject([
      { kind: 'Minimart', name: 'marked', uid: metadata.uid, controller: true },
    ]);
  });

  test('is left alone while nothing changes: not one write in the second and third look', async () => {
    const world = await worldWith();
    await plane.create('still');
    await world.byHand('still');
    const before = (await plane.writes()).length;
    await world.byHand('still');
    await world.byHand('still');
    expect((await plane.writes()).slice(before)).toEqual([]);
    expect(await plane.revisions('still')).toEqual(['1 deployed']);
  });

  test('is upgraded once for a change of the spec, and loses what is no longer in it', async () => {
    const world = await worldWith();
    await plane.create('edited');
    await world.byHand('edited');
    await plane.patch('edited', { spec: { colour: 'green', withoutService: true } });
    const answer = await world.byHand('edited');
    expect(answer.conditions).toContainEqual(
      expect.objectContaining({ type: 'Deployed', reason: 'UpgradeSuccessful' }),
    );
    await world.byHand('edited');
    expect(await plane.revisions('edited')).toEqual(['1 superseded', '2 deployed']);
    expect(dataOf(await plane.get(configMaps, 'edited'))).toEqual({ colour: 'green' });
    expect(await plane.get(services, 'edited')).toBeUndefined();
  });

  test('is upgraded when its chart is another one', async () => {
    const world = await worldWith();
    await plane.create('rechart');
    await world.byHand('rechart');
    await world.chart.replace({
      'templates/config.yaml': `${configMapTemplate}  made: by-new-chart\n`,
    });
    await world.byHand('rechart');
    await world.byHand('rechart');
    expect(await plane.revisions('rechart')).toEqual(['1 superseded', '2 deployed']);
    expect(dataOf(await plane.get(configMaps, 'rechart'))).toMatchObject({ made: 'by-new-chart' });
  });

  test('is not upgraded because the status was lost', async () => {
    const world = await worldWith();
    await plane.create('forgot');
    await world.byHand('forgot');
    await plane.admin.apply(
      plane.ref('forgot'),
      { status: { observedGeneration: 0 } },
      { fieldManager: 'podless-minimart', subresource: 'status' },
    );
    expect(await world.byHand('forgot')).toMatchObject({
      status: { deployedRelease: { revision: 1 } },
    });
    expect(await plane.revisions('forgot')).toEqual(['1 deployed']);
  });

  test('is put right after somebody has upgraded it by hand', async () => {
    const world = await worldWith();
    await plane.create('meddled', { colour: 'blue' });
    await world.byHand('meddled');
    await plane.helm(
      'upgrade',
      'meddled',
      world.chart.folder,
      '--set',
      'colour=pink',
      '--force-conflicts',
    );
    expect(dataOf(await plane.get(configMaps, 'meddled'))).toEqual({ colour: 'pink' });
    await world.byHand('meddled');
    expect(dataOf(await plane.get(configMaps, 'meddled'))).toEqual({ colour: 'blue' });
    expect(await plane.revisions('meddled')).toEqual([
      '1 superseded',
      '2 superseded',
      '3 deployed',
    ]);
  });

  test('keeps texts that look like templates or YAML, and is not upgraded for them', async () => {
    const data = `{{- range $key, $value := .Values }}\n  {{ $key }}: {{ toJson $value }}\n{{- end }}\n`;
    const world = await worldWith({
      'templates/config.yaml': configMapTemplate.replace(/^ {2}colour.*$/m, data),
    });
    const spec = {
      a: '{{ fail "evaluated" }}',
      b: '{{{{',
      c: 'x\n---\ny: z',
      d: '😀\uFEFF',
    };
    await plane.create('nasty', spec);
    await world.byHand('nasty');
    await world.byHand('nasty');
    expect(dataOf(await plane.get(configMaps, 'nasty'))).toEqual(spec);
    expect(await plane.revisions('nasty')).toEqual(['1 deployed']);
  });

  test('gets values that the watch sets, which win over the spec', async () => {
    const world = await worldWith(simple, { watch: { overrideValues: { colour: 'black' } } });
    await plane.create('overridden', { colour: 'white' });
    await world.byHand('overridden');
    expect(dataOf(await plane.get(configMaps, 'overridden'))).toEqual({ colour: 'black' });
  });

  test('is not made for an object without the labels of the selector, which is not touched', async () => {
    const selector = { matchLabels: { tier: 'gold' } };
    const world = await worldWith(simple, { watch: { selector } });
    const { metadata } = await plane.create('unselected');
    expect(await world.byHand('unselected')).toMatchObject({ outcome: 'skipped' });
    const after = await plane.admin.get(plane.ref('unselected'));
    expect(after?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    await plane.create('selected', {}, { labels: { tier: 'gold' } });
    expect(await world.byHand('selected')).toMatchObject({ outcome: 'done' });
  });

  test('of an older helm operator is taken over', async () => {
    const world = await worldWith();
    await plane.helm('install', 'adopted', world.chart.folder, '--set', 'colour=old');
    await plane.create('adopted', { colour: 'new' });
    await plane.admin.apply(
      plane.ref('adopted'),
      { status: { deployedRelease: { name: 'adopted', manifest: 'text' } } },
      { fieldManager: 'helm-operator', subresource: 'status' },
    );
    expect(await world.byHand('adopted')).toMatchObject({ outcome: 'done' });
    expect(dataOf(await plane.get(configMaps, 'adopted'))).toEqual({ colour: 'new' });
    expect(await plane.revisions('adopted')).toEqual(['1 superseded', '2 deployed']);
  });
});

describe('drift', () => {
  const more: ChartFiles = {
    ...simple,
    'templates/more.yaml': `apiVersion: v1
kind: Secret
metadata: { name: "{{ .Release.Name }}-secret" }
stringData: { password: hunter2 }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: "{{ .Release.Name }}" }
spec:
  selector: { matchLabels: { app: a } }
  template:
    metadata: { labels: { app: a } }
    spec:
      containers:
        - name: a
          image: nginx
          resources: { requests: { cpu: 0.5, memory: 1024Mi } }
          env: []
`,
  };

  test('is repaired in every object; what others have added stays', async () => {
    const world = await worldWith(more);
    await plane.create('drifted');
    await world.byHand('drifted');
    const at = (kind: typeof secrets, name = 'drifted') => ({ kind, namespace: 'default', name });
    await plane.admin.mergePatch(at(configMaps), {
      data: { colour: 'grey', own: 'mine' },
      metadata: { annotations: { note: 'keep' }, ownerReferences: [] },
    });
    await plane.admin.mergePatch(at(secrets, 'drifted-secret'), { data: { password: 'eA==' } });
    await plane.admin.delete(at(services), {});
    await world.byHand('drifted');
    const config = await plane.get(configMaps, 'drifted');
    expect(dataOf(config)).toEqual({ colour: 'red', own: 'mine' });
    expect(config?.metadata.annotations).toMatchObject({ note: 'keep' });
    expect(config?.metadata.ownerReferences).toHaveLength(1);
    const secret = await plane.get(secrets, 'drifted-secret');
    expect(dataOf(secret)).toEqual({ password: Buffer.from('hunter2').toString('base64') });
    expect(await plane.get(services, 'drifted')).toBeDefined();
    expect(await plane.revisions('drifted')).toEqual(['1 deployed']);
    const before = (await plane.writes()).length;
    await world.byHand('drifted');
    await world.byHand('drifted');
    expect((await plane.writes()).slice(before)).toEqual([]);
  });

  test('is not what the API server spells in another way', async () => {
    const world = await worldWith({
      'templates/a.yaml': `apiVersion: v1
kind: Service
metadata: { name: "{{ .Release.Name }}" }
spec:
  ports: [{ port: 80, targetPort: null }]
  externalIPs: ["2001:DB8:0:0:0:0:0:1"]
  selector: {}
`,
    });
    await plane.create('spelled');
    await world.byHand('spelled');
    await world.byHand('spelled');
    const before = (await plane.writes()).length;
    await world.byHand('spelled');
    expect((await plane.writes()).slice(before)).toEqual([]);
  });

  test('that another has made of a deleted object is a conflict', async () => {
    const world = await worldWith();
    await plane.create('replaced');
    await world.byHand('replaced');
    await plane.admin.delete({ kind: configMaps, namespace: 'default', name: 'replaced' }, {});
    await plane.admin.create(configMaps, 'default', {
      metadata: { name: 'replaced' },
      data: { a: 'theirs' },
    });
    expect(await world.byHand('replaced')).toMatchObject({ outcome: 'waiting' });
    expect((await plane.statusOf('replaced'))['conditions']).toContainEqual(
      expect.objectContaining({
        type: 'Ready',
        status: 'False',
        reason: 'Conflict',
        message: expect.stringContaining('ConfigMap default/replaced'),
      }),
    );
    expect(dataOf(await plane.get(configMaps, 'replaced'))).toEqual({ a: 'theirs' });
  });
});

describe('what belongs to somebody else', () => {
  test('as a release made by hand, is named and not touched', async () => {
    const world = await worldWith();
    await plane.helm('install', 'byhand', world.chart.folder, '--set', 'colour=theirs');
    await plane.create('byhand', { colour: 'ours' });
    const answer = await world.byHand('byhand');
    expect(answer.reason).toMatch(/Helm release default\/byhand exists already and belongs to/);
    expect(answer.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', reason: 'Conflict' }),
    );
    expect(await plane.revisions('byhand')).toEqual(['1 deployed']);
    await plane.admin.delete(plane.ref('byhand'), {});
    await world.byHand('byhand');
    expect(await plane.admin.get(plane.ref('byhand'))).toBeUndefined();
    expect(dataOf(await plane.get(configMaps, 'byhand'))).toEqual({ colour: 'theirs' });
    expect((await plane.eventsOf('byhand')).map(({ reason }) => reason)).toContain('ReleaseLeft');
  });

  test('as an object of a name the chart needs, is named; nothing is applied', async () => {
    const world = await worldWith();
    await plane.admin.create(services, 'default', {
      metadata: { name: 'taken' },
      spec: { ports: [{ port: 1 }] },
    });
    await plane.create('taken');
    expect((await world.byHand('taken')).reason).toMatch(/Service default\/taken exists already/);
    expect(await plane.get(configMaps, 'taken')).toBeUndefined();
    expect(await plane.revisions('taken')).toEqual([]);
  });
});

describe('a dry run', () => {
  test('of an install, a change and a deletion lists objects and fields, and writes nothing', async () => {
    const world = await worldWith();
    await plane.create('planned', { colour: 'blue' });
    const before = (await plane.writes()).length;
    const writesSince = async () =>
      (await plane.writes())
        .slice(before)
        .filter(({ requestURI }) => !requestURI.includes('dryRun'));
    const install = await world.byHand('planned', { dryRun: true });
    expect(install.plan).toMatchObject([
      { action: 'create', subject: 'ConfigMap default/planned' },
      { action: 'create', subject: 'Service default/planned' },
    ]);
    expect(await writesSince()).toEqual([]);
    await world.byHand('planned');
    await plane.patch('planned', { spec: { colour: 'green', withoutService: true } });
    const change = await world.byHand('planned', { dryRun: true });
    expect(change.plan).toEqual([
      expect.objectContaining({
        action: 'change',
        subject: 'ConfigMap default/planned',
        fields: [{ path: 'data.colour', from: 'blue', to: 'green' }],
      }),
      expect.objectContaining({ action: 'delete', subject: 'Service default/planned' }),
    ]);
    expect(await plane.revisions('planned')).toEqual(['1 deployed']);
  });
});
