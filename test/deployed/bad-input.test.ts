import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import type { LogFields } from '../../runtime/log.ts';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { until } from '../helpers/until.ts';
import { withoutResources } from './altered-template.ts';
import {
  type DeployedSystem,
  fillTable,
  isCompleted,
  readyOf,
  useDeployedSystem,
} from './deployed-system.ts';

/** A line of a function in which some text is. */
const lineWith = (system: DeployedSystem, source: string, text: string): Promise<LogFields> =>
  until(
    async () =>
      system.lines.find((line) => line['source'] === source && JSON.stringify(line).includes(text)),
    {
      seconds: 60,
      what: async () =>
        `${text} in the log of ${source}: ${JSON.stringify(system.lines.slice(-20))}`,
    },
  );

describe.skipIf(motoMissing)(`Bad input to the deployed system on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem({ clusters: 'blue,green', tables: 'orders-*' });

  test('fails on a table outside -c tables with a condition, and the next job is served', async () => {
    await fillTable(tables(), 'orders-inside', 20);
    await fillTable(tables(), 'secrets', 20);
    const system = await start();
    await system.createJob('outside', { tableName: 'secrets', partitionValue: 'mine' });
    await system.createJob('inside', { tableName: 'orders-inside', partitionValue: 'mine' });
    const outside = await system.jobReaches(
      'outside',
      (status) => readyOf(status)?.reason === 'AccessDenied',
    );
    expect(readyOf(outside)?.message).toContain('DescribeTable on table "secrets"');
    await system.jobReaches('inside', isCompleted);
    expect(await tables().count('secrets', 'id', { S: 'mine' })).toBe(20);
  });

  test('fails on an endpoint that was not allowed at deploy time', async () => {
    const system = await start();
    const spec = { tableName: 'orders-x', partitionValue: 'mine' };
    await system.createJob('ssrf', { ...spec, endpointURL: 'http://169.254.170.2' });
    const status = await system.jobReaches('ssrf', ({ phase }) => phase === 'Failed');
    expect(readyOf(status)).toMatchObject({ reason: 'EndpointNotAllowed' });
  });

  test('of the longest name, and of any partition value, is served like another', async () => {
    const name = `${'a'.repeat(61)}.`.repeat(4).slice(0, 252).replace(/.$/, 'z');
    const partitionValue = `$${'{aws:username}'}*?$ 中 "quoted"`;
    await fillTable(tables(), 'orders-long', 5);
    await tables().put('orders-long', [{ id: { S: partitionValue }, at: { N: '1' } }]);
    const system = await start();
    await system.createJob(name, { tableName: 'orders-long', partitionValue });
    const status = await system.jobReaches(name, isCompleted);
    expect(status).toMatchObject({ deletedItems: 1 });
    expect(await tables().count('orders-long', 'id', { S: 'mine' })).toBe(5);
  });

  test('a cluster that is gone is named in the log, and the other one is served', async () => {
    await fillTable(tables(), 'orders-other', 20);
    const system = await start();
    system.forgetCluster('green');
    // Warm functions know where it was; new ones have to ask.
    await system.host('podless-watcher-green').kill();
    void system.cloud.schedules.find(({ name }) => name === 'watcher.green')?.fire();
    await system.createJob('job', { tableName: 'orders-other', partitionValue: 'mine' }, 'blue');
    await system.jobReaches('job', isCompleted, { cluster: 'blue' });
    await lineWith(system, 'podless-watcher-green', 'does not exist in us-east-1');
  });

  test('without an access entry the log says so, and the other cluster is served', async () => {
    await fillTable(tables(), 'orders-entry', 20);
    const alter = withoutResources(
      'AWS::EKS::AccessEntry',
      ({ ClusterName, KubernetesGroups }) =>
        ClusterName === 'green' && JSON.stringify(KubernetesGroups).includes('podless:watcher'),
    );
    const system = await start({ alter });
    await system.createJob('job', { tableName: 'orders-entry', partitionValue: 'mine' }, 'blue');
    await system.jobReaches('job', isCompleted, { cluster: 'blue' });
    await lineWith(system, 'podless-watcher-green', 'needs an access entry');
  });

  test('PutEvents that takes only some entries, and errors of every service, lose nothing', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `job-${index}`);
    await fillTable(tables(), 'orders-faults', 50);
    const system = await start();
    const { fault } = system.cloud;
    fault({ service: 'events', action: 'PutEvents', failEntries: 0.5, times: 4 });
    fault({ service: 'events', action: 'PutEvents', status: 500, times: 2 });
    fault({ service: 'sqs', action: 'ChangeMessageVisibility', status: 500, times: 5 });
    fault({ service: 'sts', action: 'AssumeRole', reset: true, times: 3 });
    fault({ service: 'dynamodb', action: 'BatchWriteItem', lostReply: true, times: 3 });
    await Promise.all(
      names.map((name, index) =>
        system.createJob(name, {
          tableName: 'orders-faults',
          partitionValue: index === 0 ? 'mine' : name,
        }),
      ),
    );
    for (const name of names) await system.jobReaches(name, isCompleted, { seconds: 120 });
    expect(await system.jobStatus('job-0')).toMatchObject({ deletedItems: 50 });
    expect(await tables().count('orders-faults', 'id', { S: 'other' })).toBe(10);
  });
});
