import '../helpers/dynamodb-credentials.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isInstalled } from '../../local/installed.ts';
import { client, newFolder, removeFolders } from '../helpers/commands.ts';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { until } from '../helpers/until.ts';
import { withProperty } from './altered-template.ts';
import { oneCluster } from './contexts.ts';
import type { DeployedSystem } from './deployed-system.ts';
import { fillTable, isCompleted, jobsOf, readyOf } from './jobs.ts';
import { useDeployedSystem } from './use-deployed-system.ts';

const reconciler = 'podless-ddbctldpjob';
const awsEnvironment = {
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

afterAll(removeFolders);
const awsMissing = isInstalled('aws') ? '' : ' (not tested: aws is not installed)';
const kubectlMissing = isInstalled('kubectl') ? '' : ' (not tested: kubectl is not installed)';

/** Nobody was refused anything, and the harness could follow. */
function expectNoComplaint({ cloud }: DeployedSystem): void {
  expect(cloud.calls.filter(({ allowed }) => !allowed)).toEqual([]);
  expect(cloud.gaps).toEqual([]);
}

describe.skipIf(motoMissing)(`The deployed system on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem(oneCluster);
  const left = (name: string) => tables().count(name, 'id', { S: 'mine' });
  const neighbours = (name: string) => tables().count(name, 'id', { S: 'other' });

  test.skipIf(kubectlMissing !== '')(
    `goes from kubectl apply to Completed${kubectlMissing}`,
    async () => {
      await fillTable(tables(), 'orders-apply', 600);
      const system = await start();
      const jobs = jobsOf(system);
      const { kubeconfig } = system.cluster('prod');
      const sample = await client(
        'kubectl',
        ['create', '--dry-run=client', '-o', 'json', '-f', 'crds/samples/ddbctldpjob.yaml'],
        { KUBECONFIG: kubeconfig },
      );
      const manifest = JSON.parse(sample.stdout) as { spec: object };
      await jobs.create('from-sample', {
        ...manifest.spec,
        tableName: 'orders-apply',
        partitionValue: 'mine',
      });
      const status = await jobs.reaches('from-sample', isCompleted);
      expect(status).toMatchObject({ deletedItems: 600, observedGeneration: 1 });
      expect(readyOf(status)).toMatchObject({ status: 'True' });
      expect([await left('orders-apply'), await neighbours('orders-apply')]).toEqual([0, 10]);
      const events = await client('kubectl', ['get', 'events.events.k8s.io', '-o', 'json'], {
        KUBECONFIG: kubeconfig,
      });
      expect(events.stdout).toContain('from-sample');
      expectNoComplaint(system);
    },
  );

  test('counts exactly when a message is delivered again in the middle of its run', async () => {
    await fillTable(tables(), 'orders-again', 600);
    const system = await start();
    const jobs = jobsOf(system);
    await jobs.create('again', {
      tableName: 'orders-again',
      partitionValue: 'mine',
      maxWriteUnitsPerSecond: 150,
    });
    await jobs.reaches('again', ({ deletedItems = 0 }) => deletedItems > 0);
    expect(await system.cloud.queue(`${reconciler}-work.fifo`).expireVisibility()).toBe(1);
    const status = await jobs.reaches('again', isCompleted);
    expect(status).toMatchObject({ deletedItems: 600 });
    expect(status.deletedItemsExact).not.toBe(false);
    expect(await left('orders-again')).toBe(0);
  });

  test('goes on after a function was killed, and says that the count is a lower bound', async () => {
    await fillTable(tables(), 'orders-killed', 900);
    // A shorter life, so that the dead run's claim on the job is over soon.
    const system = await start({ alter: withProperty(reconciler, 'Timeout', 10) });
    const jobs = jobsOf(system);
    await jobs.create('killed', {
      tableName: 'orders-killed',
      partitionValue: 'mine',
      maxWriteUnitsPerSecond: 150,
    });
    await jobs.reaches('killed', ({ deletedItems = 0 }) => deletedItems > 0);
    expect(await system.host(reconciler).kill()).toBe(1);
    const status = await jobs.reaches('killed', isCompleted, { seconds: 120 });
    expect(status).toMatchObject({ deletedItemsExact: false });
    expect(status.deletedItems).toBeLessThanOrEqual(900);
    expect([await left('orders-killed'), await neighbours('orders-killed')]).toEqual([0, 10]);
  });

  test('puts what nobody can handle to the dead letters, and goes on with the rest', async () => {
    await fillTable(tables(), 'orders-poison', 30);
    const system = await start({ timeScale: 40 });
    const jobs = jobsOf(system);
    const work = system.cloud.queue(`${reconciler}-work.fifo`);
    const hint = {
      apiVersion: 'dynamoctl.dp.operators.sanjivmadhavan.io/v1alpha1',
      namespace: 'default',
      name: 'x',
    };
    const foreign = { ...hint, kind: 'Other', cluster: 'prod' };
    const elsewhere = { ...hint, kind: 'DdbctlDpJob', cluster: 'elsewhere' };
    await work.send(JSON.stringify(foreign), { group: 'a', dedupId: 'a' });
    await work.send(JSON.stringify(elsewhere), { group: 'b', dedupId: 'b' });
    await jobs.create('healthy', { tableName: 'orders-poison', partitionValue: 'mine' });
    await jobs.reaches('healthy', isCompleted);
    const deadLetters = system.cloud.queue(`${reconciler}-work-dlq.fifo`);
    await until(async () => ((await deadLetters.depth()).visible === 2 ? true : undefined), {
      seconds: 90,
      what: async () => `two dead letters, there are ${JSON.stringify(await deadLetters.depth())}`,
    });
    const complaints = system.lines.filter(({ message }) => message === 'message failed');
    expect(complaints.map(({ error }) => String(error)).join('\n')).toContain('elsewhere');
    expect(complaints.map(({ error }) => String(error)).join('\n')).toContain('Other');
  });

  test.skipIf(awsMissing !== '')(`answers aws lambda invoke${awsMissing}`, async () => {
    await fillTable(tables(), 'orders-hand', 40);
    const system = await start();
    const jobs = jobsOf(system);
    const spec = { tableName: 'orders-hand', partitionValue: 'mine' };
    await jobs.create('by-hand', { ...spec, suspend: true });
    const invoke = (payload: object) => invokeByCli(system, { name: 'by-hand', ...payload });
    expect(await invoke({ dryRun: true })).toContain('40 items');
    expect(await left('orders-hand')).toBe(40);
    await jobs.patch('by-hand', { spec: { suspend: false } });
    await jobs.reaches('by-hand', isCompleted);
    expect(await invoke({})).toContain('Completed');
    expect(await invoke({ cluster: 'elsewhere' })).toContain('cluster must be one of prod');
  });
});

/** As a person does it; answers with what is written to the file. */
async function invokeByCli({ lambdaUrl }: DeployedSystem, payload: object): Promise<string> {
  const file = join(newFolder(), 'out.json');
  const options = { 'endpoint-url': lambdaUrl, 'function-name': reconciler };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const { code, stderr } = await client(
    'aws',
    ['lambda', 'invoke', ...args, '--payload', JSON.stringify(payload), file],
    { ...awsEnvironment, AWS_CONFIG_FILE: '/dev/null', AWS_PAGER: '' },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return readFile(file, 'utf8');
}
