import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helmOperators } from '../../functions/helm/operator.ts';
import { environmentNames } from '../../runtime/aws/environment.ts';
import {
  type ChildrenSystem,
  configMapKind,
  jobKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';
import { configMapTemplate, createTestChart, hookTemplate } from '../helpers/helm-chart.ts';

const minimart = helmOperators.find(({ name }) => name === 'minimart');
if (!minimart) throw new Error('there must be an operator minimart');
const isTrue = ({ status }: { readonly status: string }): boolean => status === 'True';

/** A chart with a hook, in the place of minimart's own. A Job for nodes of a kind that is not there never ends. */
const files = {
  'templates/config.yaml': configMapTemplate,
  'templates/hook.yaml': hookTemplate('pre-install,pre-upgrade').replace(
    'restartPolicy: Never',
    'restartPolicy: Never\n      nodeSelector: {{ toJson .Values.nodes }}',
  ),
  'values.yaml': 'nodes: {}\n',
};

let system: ChildrenSystem;
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'podless-test-charts-'));
  const chart = await createTestChart(files);
  await mkdir(join(root, 'charts'));
  await rename(chart.folder, join(root, 'charts', 'minimart'));
  await chart.remove();
  process.env[environmentNames.charts] = root;
  system = await startChildrenSystem(minimart, { functionTimeout: 20 });
});

afterAll(async () => {
  await system?.stop();
  delete process.env[environmentNames.charts];
  await rm(root, { recursive: true, force: true });
});

test('a hook is waited for, and the release is deployed when it is done', async () => {
  await system.create('hooked', {});
  await system.reachesCondition('hooked', isTrue);
  const job = await system.find(jobKind, 'hooked-hook');
  expect(job?.status.succeeded).toBe(1);
  expect(job?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Minimart', name: 'hooked' });
  await system.delete('hooked');
  await system.isGone(minimart.kind, 'hooked');
  await system.isGone(jobKind, 'hooked-hook');
});

test('a hook that never ends fails the release in time, and others go on meanwhile', async () => {
  await system.create('endless', { nodes: { disk: 'none' } });
  await system.create('other', {});
  await system.reachesCondition('other', isTrue);
  const failed = await system.reachesCondition('endless', isTrue, 'ReleaseFailed');
  expect(failed.message).toMatch(/endless-hook.*removed again/);
  expect(await system.find(configMapKind, 'endless')).toBeUndefined();
  await system.patch('endless', { spec: { nodes: null } });
  await system.reachesCondition('endless', isTrue);
  expect(await system.conditionOf('endless', 'ReleaseFailed')).toMatchObject({ status: 'False' });
});
