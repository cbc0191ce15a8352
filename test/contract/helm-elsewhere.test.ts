import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { usualChartKinds } from '../../runtime/helm/chart-kinds.ts';
import { openChart } from '../../runtime/helm/open-chart.ts';
import type { ReleaseRef } from '../../runtime/helm/release.ts';
import { createLog } from '../../runtime/log.ts';
import type { ReconcileContext } from '../../runtime/reconcile.ts';
import {
  configMapTemplate,
  createTestChart,
  hookTemplate,
  type TestChart,
} from '../helpers/helm-chart.ts';
import { configMaps, type HelmPlane, jobs, startHelmPlane } from '../helpers/helm-plane.ts';

let plane: HelmPlane;
let chart: TestChart;
let folder: string;

beforeAll(async () => {
  plane = await startHelmPlane();
  chart = await createTestChart({
    'templates/config.yaml': configMapTemplate,
    'templates/hook.yaml': hookTemplate('post-delete'),
  });
  folder = await mkdtemp(join(tmpdir(), 'podless-test-tgz-'));
});

afterAll(async () => {
  await plane?.stop();
  await chart?.remove();
  await rm(folder, { recursive: true, force: true });
});

const contextOf = (dryRun = false, seconds = 8): ReconcileContext => ({
  log: createLog(() => {}),
  clock: systemClock,
  cluster: 'main',
  kube: plane.kube,
  fieldManager: 'podless-minimart',
  announce: async () => undefined,
  signal: AbortSignal.timeout(seconds * 700),
  deadline: systemClock.now() + seconds * 1000,
  windUpMilliseconds: seconds * 300,
  runId: 'run',
  dryRun,
  isStillThere: async () => true,
  checkpoint: async () => ({ goOn: true }),
});

async function ownerNamed(name: string) {
  const object = (await plane.admin.get(plane.ref(name))) ?? (await plane.create(name));
  return { object, operator: 'minimart' };
}

describe('a release in another namespace than its owner', () => {
  const release: ReleaseRef = { name: 'app', namespace: 'tenant' };
  const config = { kind: configMaps, namespace: 'tenant', name: 'app' };
  const wanted = async (owner: string, values: object = {}) => ({
    ...release,
    chart: await openChart(chart.folder),
    values,
    allowed: usualChartKinds,
    owner: await ownerNamed(owner),
  });

  test('is planned even before the namespace exists', async () => {
    const { plan } = await plane.releases.reconcile(await wanted('far'), contextOf(true));
    expect(plan).toContainEqual(
      expect.objectContaining({ action: 'create', subject: 'ConfigMap tenant/app' }),
    );
  });

  test('names its owner by annotation, since a reference would not hold', async () => {
    await plane.makeNamespace('tenant');
    const report = await plane.releases.reconcile(await wanted('far'), contextOf());
    expect(report).toMatchObject({ action: 'installed', revision: 1, namespace: 'tenant' });
    const live = await plane.admin.get(config);
    expect(live?.metadata.annotations).toMatchObject({ 'podless.dev/owner': 'default/far' });
    expect(live?.metadata.ownerReferences).toBeUndefined();
  });

  test('is repaired, upgraded and left alone like any other', async () => {
    await plane.admin.mergePatch(config, { data: { colour: 'grey' } });
    const repaired = await plane.releases.reconcile(await wanted('far'), contextOf());
    expect(repaired.action).toBe('repaired');
    const again = await plane.releases.reconcile(await wanted('far'), contextOf());
    expect(again.action).toBe('none');
    const values = { colour: 'blue' };
    const upgraded = await plane.releases.reconcile(await wanted('far', values), contextOf());
    expect(upgraded).toMatchObject({ action: 'upgraded', revision: 2 });
  });

  test('is a conflict for another owner, who cannot remove it either', async () => {
    const other = await wanted('rival');
    await expect(plane.releases.reconcile(other, contextOf())).rejects.toMatchObject({
      reason: 'Conflict',
    });
    expect(await plane.releases.remove(release, other.owner, contextOf())).toEqual([]);
    expect(await plane.revisions('app', 'tenant')).toHaveLength(2);
  });

  test('leaves nothing when it is removed, not even what a hook has made', async () => {
    const owner = await ownerNamed('far');
    await plane.releases.remove(release, owner, contextOf());
    expect(await plane.revisions('app', 'tenant')).toEqual([]);
    expect(await plane.admin.get(config)).toBeUndefined();
    expect(
      await plane.admin.get({ kind: jobs, namespace: 'tenant', name: 'app-hook' }),
    ).toBeUndefined();
    expect(await plane.releases.remove(release, owner, contextOf())).toEqual([]);
    const nowhere = { name: 'app', namespace: 'nowhere' };
    expect(await plane.releases.remove(nowhere, owner, contextOf())).toEqual([]);
  });
});

describe('a chart', () => {
  test('may be an archive, which renders the same', async () => {
    await plane.helm('package', chart.folder, '--destination', folder);
    const archived = await openChart(join(folder, 'tested-1.0.0.tgz'));
    const text = await readFile(join(archived.folder, 'templates', 'config.yaml'), 'utf8');
    expect(text).toBe(configMapTemplate);
    await rm(archived.folder, { recursive: true });
  });

  test('has another digest when any file in it is another one', async () => {
    const { digest } = await openChart(chart.folder);
    expect((await openChart(chart.folder)).digest).toBe(digest);
    await writeFile(join(chart.folder, 'values.yaml'), '');
    expect((await openChart(chart.folder)).digest).not.toBe(digest);
  });

  test('that is not there is waited for', async () => {
    await expect(openChart(join(folder, 'nothing'))).rejects.toMatchObject({
      reason: 'ChartNotFound',
    });
  });
});
