import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { until } from '../helpers/until.ts';
import { fillTable, isCompleted, readyOf, useDeployedSystem } from './deployed-system.ts';

describe.skipIf(motoMissing)(`The rights of the deployed system on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem({ clusters: 'prod', tables: 'orders-*' });

  test('are all used, and nobody asks for others', async () => {
    await fillTable(tables(), 'orders-rights', 30);
    await tables().create('orders-flat', { partitionKey: { name: 'id', type: 'S' } });
    await tables().put('orders-flat', [{ id: { S: 'mine' } }]);
    const system = await start({
      timeScale: 40,
      // A position of another life of the cluster: the watcher must forget it.
      beforeStart: () =>
        tables().put('podless-cursors', [
          {
            id: { S: 'prod/dynamoctl.dp.operators.sanjivmadhavan.io/ddbctldpjobs' },
            resourceVersion: { S: '999999999' },
          },
        ]),
    });
    const { cloud } = system;
    // Lambda takes nothing for a while: the schedules' last resort.
    cloud.fault({ service: 'lambda', action: 'Invoke', status: 500, times: 2 * 11 });
    const refused = Promise.all(cloud.schedules.map((schedule) => schedule.fire()));
    await system.createJob('job', { tableName: 'orders-rights', partitionValue: 'mine' });
    await system.createJob('flat', { tableName: 'orders-flat', partitionValue: 'mine' });
    await system.createJob('waits', { tableName: 'orders-nowhere', partitionValue: 'mine' });
    await system.jobReaches('job', isCompleted);
    await system.jobReaches('flat', isCompleted);
    await system.jobReaches('waits', (status) => readyOf(status)?.reason === 'TableNotFound');
    expect(await refused).toEqual([undefined, undefined]);
    // Now there is something to be found.
    await cloud.schedules.find(({ functionName }) => functionName === 'podless-resync')?.fire();
    const unused = () => [...cloud.granted()].filter((right) => !cloud.used().has(right));
    await until(async () => (unused().length === 0 ? true : undefined), {
      seconds: 60,
      what: async () => `each of these rights to be used:\n${unused().join('\n')}`,
    });
    expect([...cloud.used()].toSorted()).toEqual([...cloud.granted()].toSorted());
    expect(cloud.calls.filter(({ allowed }) => !allowed)).toEqual([]);
    expect(cloud.gaps).toEqual([]);
  });
});
