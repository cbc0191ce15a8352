import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import type { LogFields } from '../../runtime/log.ts';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { withoutResources } from './altered-template.ts';
import { twoClusters } from './contexts.ts';
import type { DeployedSystem } from './deployed-system.ts';
import { fillTable, isCompleted, jobsOf } from './jobs.ts';
import { useDeployedSystem } from './use-deployed-system.ts';

/** A line of a function in which some text is. */
const lineWith = (system: DeployedSystem, source: string, text: string): Promise<LogFields> =>
  system.eventually(
    async () =>
      system.lines.find((line) => line['source'] === source && JSON.stringify(line).includes(text)),
    { what: async () => `${text} in the log of ${source}` },
  );

describe.skipIf(motoMissing)(`One stack for two clusters on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem(twoClusters);

  test('has a watcher for each and tells their objects apart', async () => {
    await fillTable(tables(), 'orders-blue', 50);
    await fillTable(tables(), 'orders-green', 70);
    const system = await start();
    const [blue, green] = [jobsOf(system, 'blue'), jobsOf(system, 'green')];
    await blue.create('same-name', { tableName: 'orders-blue', partitionValue: 'mine' });
    await green.create('same-name', { tableName: 'orders-green', partitionValue: 'mine' });
    expect(await blue.reaches('same-name', isCompleted)).toMatchObject({ deletedItems: 50 });
    expect(await green.reaches('same-name', isCompleted)).toMatchObject({ deletedItems: 70 });
    expect(system.cloud.calls.filter(({ allowed }) => !allowed)).toEqual([]);
    expect(system.cloud.gaps).toEqual([]);
  });

  test('names one that is gone in the log, and serves the other', async () => {
    await fillTable(tables(), 'orders-other', 20);
    const system = await start();
    system.forgetCluster('green');
    // Warm functions know where it was; new ones have to ask.
    await system.host('podless-watcher-green').kill();
    void system.cloud.schedules.find(({ name }) => name === 'watcher.green')?.fire();
    const jobs = jobsOf(system, 'blue');
    await jobs.create('job', { tableName: 'orders-other', partitionValue: 'mine' });
    await jobs.reaches('job', isCompleted);
    await lineWith(system, 'podless-watcher-green', 'does not exist in us-east-1');
  });

  test('says in the log that it is not let into one, and serves the other', async () => {
    await fillTable(tables(), 'orders-entry', 20);
    const alter = withoutResources(
      'AWS::EKS::AccessEntry',
      ({ ClusterName, KubernetesGroups }) =>
        ClusterName === 'green' && JSON.stringify(KubernetesGroups).includes('podless:watcher'),
    );
    const system = await start({ alter });
    const jobs = jobsOf(system, 'blue');
    await jobs.create('job', { tableName: 'orders-entry', partitionValue: 'mine' });
    await jobs.reaches('job', isCompleted);
    await lineWith(system, 'podless-watcher-green', 'needs an access entry');
  });
});
