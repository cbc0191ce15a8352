import '../helpers/dynamodb-credentials.ts';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packChart } from '../../local/s3/pack-chart.ts';
import type { Kind } from '../../runtime/operator.ts';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { createBucket, uploadChart } from './chart-bucket.ts';
import { allOperators } from './contexts.ts';
import type { DeployedSystem } from './deployed-system.ts';
import { fillTable, isCompleted, jobsOf, readyOf } from './jobs.ts';
import { objectsOf, operatorNamed, readSample } from './objects.ts';
import { useDeployedSystem } from './use-deployed-system.ts';

const chartFolder = join(import.meta.dirname, '..', '..', 'charts', 'collector-sample');
const deploymentKind = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' };
const jobKind = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs' };
const serviceKind = { group: '', version: 'v1', kind: 'Service', plural: 'services' };
const secretKind = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' };

const collectorOf = (name: string, cluster: string) => ({
  metadata: { name },
  spec: {
    collector: { name: 'missing', version: '1.2.3', configuration: '' },
    tenant: { id: '1', reference: 'Acme', instance: name },
    cluster,
  },
});

/** Every operator, as `cdk deploy` makes it: one system for all tests, since they need little of it. */
describe.skipIf(motoMissing)(`All operators, deployed on ${motoName}`, () => {
  const { deploy, tables } = useDeployedSystem(allOperators, { workloads: true });
  let system: DeployedSystem;
  beforeAll(async () => {
    system = await deploy({
      timeScale: 40,
      beforeStart: async () => {
        const chart = await packChart(chartFolder, '1.0.0');
        await uploadChart('production-helm', 'charts/collector-sample-1.0.0.tgz', chart);
        await createBucket('development-helm');
        // A position of another life of the cluster: the watcher must forget it.
        const id = 'prod/dynamoctl.dp.operators.sanjivmadhavan.io/ddbctldpjobs';
        await tables().put('podless-cursors', [
          { id: { S: id }, resourceVersion: { S: '999999999' } },
        ]);
      },
    });
  });
  afterAll(() => system?.stop());

  test.each([
    ['myownshell', 'Ready=True', 2],
    ['goop', 'Completed=True', 3],
    ['minimart', 'Deployed=True', 2],
    ['collector', 'Available=True', 1],
  ])('the sample of %s gets to %s', async (name, good, children) => {
    const objects = objectsOf(system, operatorNamed(name));
    const sample = readSample(name);
    const { metadata } = sample;
    await objects.create(sample);
    await objects.reaches(metadata.name, good);
    expect((await objects.children(metadata.name)).length).toBeGreaterThanOrEqual(children);
    // Kubernetes may take half a minute to collect the children of a kind that is new to it: that is not waited for here.
    await objects.delete(metadata.name);
  });

  test('all rights that roles are granted are used, and nobody asks for others', async () => {
    const { cloud } = system;
    // Lambda takes nothing for a while: the schedules' last resort.
    const some = ['watcher.prod', 'resync.prod.goop'];
    cloud.fault({ service: 'lambda', action: 'Invoke', status: 500, times: 11 * some.length });
    const schedules = cloud.schedules.filter(({ name }) => some.includes(name));
    const refused = Promise.all(schedules.map((schedule) => schedule.fire()));
    await wakeEveryRole(system);
    expect(await refused).toEqual([undefined, undefined]);
    // Now there is something to be found.
    const resyncs = cloud.schedules.filter(({ functionName }) => functionName === 'podless-resync');
    await Promise.all(resyncs.map((schedule) => schedule.fire()));
    const unused = () => [...cloud.granted()].filter((right) => !cloud.used().has(right));
    await system.eventually(async () => (unused().length === 0 ? true : undefined), {
      what: async () => `each of these rights to be used:\n${unused().join('\n')}`,
    });
    expect([...cloud.used()].toSorted()).toEqual([...cloud.granted()].toSorted());
    expect(cloud.calls.filter(({ allowed }) => !allowed)).toEqual([]);
    expect(cloud.gaps).toEqual([]);
  });

  test.each(['myownshell', 'goop', 'minimart', 'collector'])(
    'the sample of %s left nothing behind when it was deleted',
    async (name) => {
      const { metadata } = readSample(name);
      await objectsOf(system, operatorNamed(name)).isGone(metadata.name);
    },
  );

  test('no release is left either', async () => {
    const { admin } = system.cluster('prod');
    const { items } = await admin.list(secretKind, { limit: 10, labelSelector: 'owner=helm' });
    expect(items).toEqual([]);
  });

  /** Objects with which every role does all it ever does: one that is done, and one that has to wait. */
  async function wakeEveryRole({ cluster }: DeployedSystem): Promise<void> {
    const { admin } = cluster('prod');
    await fillTable(tables(), 'orders-rights', 30);
    await tables().create('orders-flat', { partitionKey: { name: 'id', type: 'S' } });
    await tables().put('orders-flat', [{ id: { S: 'mine' } }]);
    const jobs = jobsOf(system);
    await jobs.create('job', { tableName: 'orders-rights', partitionValue: 'mine' });
    await jobs.create('flat', { tableName: 'orders-flat', partitionValue: 'mine' });
    await jobs.create('waits', { tableName: 'orders-nowhere', partitionValue: 'mine' });
    // Somebody else's, of the names that ours would have.
    const labels = { app: 'other' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'b' }] } };
    const create = (kind: Kind, name: string, spec: object) =>
      admin.create(kind, 'default', { metadata: { name }, spec });
    await create(deploymentKind, 'shell-waits', { selector: { matchLabels: labels }, template });
    const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
    await create(jobKind, 'goop-waits-0', { template: once });
    await create(serviceKind, 'mart-waits', { ports: [{ port: 80 }] });
    const of = (name: string) => objectsOf(system, operatorNamed(name));
    await of('myownshell').create({ metadata: { name: 'shell-waits' }, spec: { size: 1 } });
    await of('goop').create({ metadata: { name: 'goop-waits' }, spec: { job_count: 1 } });
    await of('minimart').create({ metadata: { name: 'mart-waits' }, spec: {} });
    for (const where of ['development', 'production']) {
      await of('collector').create(collectorOf(`col-${where}`, where));
      await of('collector').reaches(`col-${where}`, 'Available=False ChartNotFound');
    }
    await of('myownshell').reaches('shell-waits', 'Ready=False Conflict');
    await of('goop').reaches('goop-waits', 'Ready=False Conflict');
    await of('minimart').reaches('mart-waits', 'Ready=False Conflict');
    await jobs.reaches('job', isCompleted);
    await jobs.reaches('flat', isCompleted);
    await jobs.reaches('waits', (status) => readyOf(status)?.reason === 'TableNotFound');
  }
});
