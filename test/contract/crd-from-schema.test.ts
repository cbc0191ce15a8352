import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../local/control-plane/index.ts';
import { chartCrd } from '../../local/generate/chart-crd.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import type { Kind } from '../../runtime/operator.ts';
import { nastySchemas } from '../helpers/nasty-schemas.ts';
import { connectionOf } from '../helpers/runtime-plane.ts';
import { until } from '../helpers/until.ts';

const crdKind: Kind = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};

let plane: ControlPlane;
let admin: KubeClient;
let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'podless-charts-'));
  plane = await startControlPlane({ users: [] });
  admin = createKubeClient(connectionOf(plane, 'admin'));
});

afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  await plane?.stop();
});

let charts = 0;

/** Installs the CRD of a chart with such a schema, and tells what the API server makes of a spec. */
async function kindOf(schema: unknown, values = '') {
  charts += 1;
  const kind = {
    group: 'charts.example.com',
    version: 'v1',
    kind: `Chart${charts}`,
    plural: `chart${charts}s`,
  };
  const folder = join(root, 'charts', kind.plural);
  mkdirSync(folder, { recursive: true });
  if (schema !== undefined)
    writeFileSync(join(folder, 'values.schema.json'), JSON.stringify(schema));
  writeFileSync(join(folder, 'values.yaml'), values);
  const yaml = await chartCrd({ ...kind, chart: `charts/${kind.plural}` }, root);
  const ref = { kind: crdKind, namespace: '', name: `${kind.plural}.${kind.group}` };
  await admin.apply(ref, parse(yaml) as object, { fieldManager: 'test' });
  const conditions = await until(
    async () => {
      const found = (await admin.get(ref))?.status?.conditions ?? [];
      const served = await admin.list(kind, { limit: 1 }).catch(() => undefined);
      return found.some(({ type }) => type === 'Established') && served ? found : undefined;
    },
    { seconds: 30, what: async () => `${kind.kind} to be served` },
  );
  const create = (spec?: unknown): Promise<KubeObject> =>
    admin.create(kind, 'default', { metadata: { generateName: 'x-' }, spec });
  return { kind, yaml, conditions, create };
}

const refused = { status: 422 };

// A kind takes seconds to be served: all are installed side by side.
describe.concurrent('the CRD of a chart on a real API server', () => {
  test.each(Object.entries(nastySchemas))(
    'is accepted, and takes a spec: %s',
    async (_what, schema) => {
      const { conditions, create, yaml } = await kindOf(schema);
      expect(conditions).not.toContainEqual(
        expect.objectContaining({ type: 'NonStructuralSchema', status: 'True' }),
      );
      expect(yaml.length).toBeLessThan(250_000);
      const spec = { anything: { goes: [1, 'two', { three: null }] }, 'unheard-of': 1 };
      expect((await create(spec)).spec).toEqual(spec);
    },
  );

  const schema = {
    type: 'object',
    required: ['host', 'image'],
    additionalProperties: false,
    properties: {
      host: { type: 'string', pattern: '^[a-z.]+$' },
      replicas: { type: 'integer', minimum: 0, maximum: 10, default: 3 },
      image: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, policy: { enum: ['Always', 'Never'] } },
      },
      port: { type: ['integer', 'string'] },
      env: { type: 'object', additionalProperties: { type: 'string' } },
    },
  };
  const values = 'image:\n  name: nginx\n  policy: Always\nreplicas: 1\n';

  test('refuses what the schema refuses, and takes what Helm would take', async () => {
    const { create } = await kindOf(schema, values);
    const good = [
      { host: 'a.b' },
      { host: 'a.b', replicas: 10, port: 80, env: { A: 'b' } },
      { host: 'a.b', port: 'http', image: { tag: 'unheard of' } },
      // Takes the chart's own value away.
      { host: 'a.b', replicas: null, image: { policy: null } },
    ];
    for (const spec of good) expect((await create(spec)).spec).toEqual(spec);
    const bad = [
      {},
      { host: 'A' },
      { host: 7 },
      { host: null },
      { host: 'a.b', replicas: -1 },
      { host: 'a.b', replicas: 1.5 },
      { host: 'a.b', image: { policy: 'Sometimes' } },
      { host: 'a.b', port: true },
      { host: 'a.b', env: { A: 1 } },
      { host: 'a.b', env: 'A=1' },
    ];
    for (const spec of bad)
      await expect(create(spec), JSON.stringify(spec)).rejects.toMatchObject(refused);
    await expect(create(undefined)).rejects.toMatchObject(refused);
  });

  test('stores no value that the user has not given, and none that the schema does not know', async () => {
    const { create } = await kindOf(schema, values);
    const { spec } = await create({ host: 'a.b', unknown: 1, image: { kept: true } });
    expect(spec).toEqual({ host: 'a.b', image: { kept: true } });
  });

  test('of Minimart takes the sample, and what other helm operators have scaffolded', async () => {
    const project = join(import.meta.dirname, '../..');
    const read = (path: string) => readFileSync(join(project, path), 'utf8');
    const chart = 'charts/minimart';
    const { create } = await kindOf(
      JSON.parse(read(`${chart}/values.schema.json`)),
      read(`${chart}/values.yaml`),
    );
    const sample = parse(read('crds/samples/minimart.yaml')) as KubeObject;
    expect((await create(sample.spec)).spec).toEqual(sample.spec);
    const scaffolded = {
      affinity: {},
      autoscaling: { enabled: false, maxReplicas: 100 },
      fullnameOverride: '',
      image: { pullPolicy: 'IfNotPresent', repository: 'nginx', tag: '' },
      imagePullSecrets: [],
      ingress: { enabled: false, annotations: {}, hosts: [{ host: 'chart-example.local' }] },
      nodeSelector: {},
      podAnnotations: {},
      replicaCount: 1,
      resources: {},
      service: { port: 80, type: 'ClusterIP' },
      serviceAccount: { create: true, name: '' },
      tolerations: [],
    };
    expect((await create(scaffolded)).spec).toEqual(scaffolded);
    expect((await create({})).spec).toEqual({});
    await expect(create({ replicaCount: 'many' })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('spec.replicaCount'),
    });
  });

  test('has the status of a release', async () => {
    const { kind, create } = await kindOf(undefined);
    const { metadata } = await create();
    const status = {
      observedGeneration: 1,
      lastHandledReconcileAt: 'now',
      deployedRelease: { name: 'x', manifest: 'abc' },
      conditions: [
        {
          type: 'Deployed',
          status: 'True',
          reason: 'Installed',
          message: 'all is well',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const written = await admin.apply(
      { kind, namespace: 'default', name: metadata.name },
      { metadata: { name: metadata.name }, status },
      { fieldManager: 'test', subresource: 'status' },
    );
    expect(written.status).toEqual(status);
  });
});
