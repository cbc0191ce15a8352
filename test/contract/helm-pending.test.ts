import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labelsFor } from '../../runtime/helm/release-labels.ts';
import {
  type ChartFiles,
  configMapTemplate,
  createTestChart,
  hookTemplate,
  type TestChart,
} from '../helpers/helm-chart.ts';
import { configMaps, type HelmPlane, startHelmPlane } from '../helpers/helm-plane.ts';
import { until } from '../helpers/until.ts';

let plane: HelmPlane;
const charts: TestChart[] = [];

beforeAll(async () => {
  plane = await startHelmPlane();
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all(charts.map((chart) => chart.remove()));
});

const simple: ChartFiles = { 'templates/config.yaml': configMapTemplate };

async function chartOf(files: ChartFiles): Promise<TestChart> {
  const chart = await createTestChart(files);
  charts.push(chart);
  return chart;
}

interface KilledRun {
  readonly name: string;
  /** In seconds from now: when the killed run would have ended at the latest. */
  readonly until: number;
  readonly args: readonly string[];
  /** Of the revision that is left. */
  readonly status: string;
}

/** A run of ours that was killed together with helm while a hook ran, as the kernel does it: without a word. */
async function killedRun({ name, until: seconds, args, status }: KilledRun): Promise<void> {
  const object = await plane.admin.get(plane.ref(name));
  if (!object) throw new Error(`there must be a Minimart ${name}`);
  const owner = { object, operator: 'minimart' };
  const end = Date.now() + seconds * 1000;
  const labels = labelsFor({ digest: 'd', manifest: 'm', owner, until: end });
  const rollback = args[0] === 'rollback';
  const child = spawn(plane.helmPath, [...args, ...(rollback ? [] : ['--labels', labels])], {
    env: { KUBECONFIG: plane.kubeconfig, HOME: '/nonexistent', PATH: '/usr/bin:/bin' },
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await until(
    async () => ((await plane.revisions(name)).at(-1)?.endsWith(status) ? true : undefined),
    { seconds: 30, what: async () => `${name} to be ${status}` },
  );
  child.kill('SIGKILL');
  await exited;
}

describe('a release that a killed run has left', () => {
  test('pending-install is removed and installed anew', async () => {
    const hooked = await chartOf({ ...simple, 'templates/hook.yaml': hookTemplate('pre-install') });
    await plane.create('half');
    const args = ['install', 'half', hooked.folder];
    await killedRun({ name: 'half', until: -1, args, status: 'pending-install' });
    const world = plane.world((await chartOf(simple)).folder);
    expect(await world.byHand('half')).toMatchObject({ outcome: 'done' });
    expect(await plane.revisions('half')).toEqual(['1 deployed']);
    expect(await plane.get(configMaps, 'half')).toBeDefined();
  });

  test('pending-upgrade is rolled back, then upgraded', async () => {
    const chart = await chartOf(simple);
    const hooked = await chartOf({ ...simple, 'templates/hook.yaml': hookTemplate('pre-upgrade') });
    const world = plane.world(chart.folder);
    await plane.create('stuck', { colour: 'blue' });
    await world.byHand('stuck');
    const args = ['upgrade', 'stuck', hooked.folder];
    await killedRun({ name: 'stuck', until: -1, args, status: 'pending-upgrade' });
    await plane.patch('stuck', { spec: { colour: 'green' } });
    const plan = await world.byHand('stuck', { dryRun: true });
    expect(plan.plan).toMatchObject([{ action: 'change', subject: 'ConfigMap default/stuck' }]);
    expect(await plane.revisions('stuck')).toEqual(['1 deployed', '2 pending-upgrade']);
    expect(await world.byHand('stuck')).toMatchObject({ outcome: 'done' });
    expect((await plane.revisions('stuck')).at(-1)).toBe('4 deployed');
    expect(await plane.get(configMaps, 'stuck')).toMatchObject({ data: { colour: 'green' } });
  });

  test('pending-upgrade, with nothing new in the spec, is only rolled back', async () => {
    const hooked = await chartOf({ ...simple, 'templates/hook.yaml': hookTemplate('pre-upgrade') });
    const world = plane.world((await chartOf(simple)).folder);
    await plane.create('calm');
    await world.byHand('calm');
    const args = ['upgrade', 'calm', hooked.folder];
    await killedRun({ name: 'calm', until: -1, args, status: 'pending-upgrade' });
    expect(await world.byHand('calm')).toMatchObject({
      outcome: 'done',
      status: { deployedRelease: { revision: 3 } },
    });
  });

  test('is removed when its object goes', async () => {
    const hooked = await chartOf({ ...simple, 'templates/hook.yaml': hookTemplate('pre-install') });
    const world = plane.world(hooked.folder, { seconds: 6 });
    const finalizers = ['helm.sdk.operatorframework.io/uninstall-release'];
    await plane.create('leaving', {}, { finalizers });
    const args = ['install', 'leaving', hooked.folder];
    await killedRun({ name: 'leaving', until: -1, args, status: 'pending-install' });
    await plane.admin.delete(plane.ref('leaving'), {});
    await world.byHand('leaving');
    expect(await plane.admin.get(plane.ref('leaving'))).toBeUndefined();
    expect(await plane.revisions('leaving')).toEqual([]);
  });

  test('is left to the run that may still be at work on it', async () => {
    const hooked = await chartOf({ ...simple, 'templates/hook.yaml': hookTemplate('pre-install') });
    await plane.create('busy');
    const args = ['install', 'busy', hooked.folder];
    await killedRun({ name: 'busy', until: 60, args, status: 'pending-install' });
    const world = plane.world((await chartOf(simple)).folder);
    const answer = await world.byHand('busy');
    expect(answer).toMatchObject({ outcome: 'waiting' });
    expect(answer.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'ReleaseBusy' }),
    );
    expect(await plane.revisions('busy')).toEqual(['1 pending-install']);
  });
});
