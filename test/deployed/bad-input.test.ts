import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { oneCluster } from './contexts.ts';
import { fillTable, isCompleted, jobsOf, readyOf } from './jobs.ts';
import { useDeployedSystem } from './use-deployed-system.ts';

describe.skipIf(motoMissing)(`Bad input to the deployed system on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem(oneCluster);

  test('fails on a table outside -c tables with a condition, and the next job is served', async () => {
    await fillTable(tables(), 'orders-inside', 20);
    await fillTable(tables(), 'secrets', 20);
    const system = await start();
    const jobs = jobsOf(system);
    await jobs.create('outside', { tableName: 'secrets', partitionValue: 'mine' });
    await jobs.create('inside', { tableName: 'orders-inside', partitionValue: 'mine' });
    const outside = await jobs.reaches(
      'outside',
      (status) => readyOf(status)?.reason === 'AccessDenied',
    );
    expect(readyOf(outside)?.message).toContain('DescribeTable on table "secrets"');
    await jobs.reaches('inside', isCompleted);
    expect(await tables().count('secrets', 'id', { S: 'mine' })).toBe(20);
  });

  test('fails on an endpoint that was not allowed at deploy time', async () => {
    const system = await start();
    const jobs = jobsOf(system);
    const spec = { tableName: 'orders-x', partitionValue: 'mine' };
    await jobs.create('ssrf', { ...spec, endpointURL: 'http://169.254.170.2' });
    const status = await jobs.reaches('ssrf', ({ phase }) => phase === 'Failed');
    expect(readyOf(status)).toMatchObject({ reason: 'EndpointNotAllowed' });
  });

  test('of the longest name, and of any partition value, is served like another', async () => {
    const name = `${'a'.repeat(61)}.`.repeat(4).slice(0, 252).replace(/.$/, 'z');
    const partitionValue = `$${'{aws:username}'}*?$ 中 "quoted"`;
    await fillTable(tables(), 'orders-long', 5);
    await tables().put('orders-long', [{ id: { S: partitionValue }, at: { N: '1' } }]);
    const system = await start();
    const jobs = jobsOf(system);
    await jobs.create(name, { tableName: 'orders-long', partitionValue });
    const status = await jobs.reaches(name, isCompleted);
    expect(status).toMatchObject({ deletedItems: 1 });
    expect(await tables().count('orders-long', 'id', { S: 'mine' })).toBe(5);
  });

  test('PutEvents that takes only some entries, and errors of every service, lose nothing', async () => {
    const names = Array.from({ length: 15 }, (_, index) => `job-${index}`);
    await fillTable(tables(), 'orders-faults', 50);
    const system = await start();
    const jobs = jobsOf(system);
    const { fault } = system.cloud;
    fault({ service: 'events', action: 'PutEvents', failEntries: 0.5, times: 4 });
    fault({ service: 'events', action: 'PutEvents', status: 500, times: 2 });
    fault({ service: 'sqs', action: 'ChangeMessageVisibility', status: 500, times: 5 });
    fault({ service: 'sts', action: 'AssumeRole', reset: true, times: 3 });
    fault({ service: 'dynamodb', action: 'BatchWriteItem', lostReply: true, times: 3 });
    await Promise.all(
      names.map((name, index) =>
        jobs.create(name, {
          tableName: 'orders-faults',
          partitionValue: index === 0 ? 'mine' : name,
        }),
      ),
    );
    for (const name of names) await jobs.reaches(name, isCompleted, { seconds: 120 });
    expect(await jobs.status('job-0')).toMatchObject({ deletedItems: 50 });
    expect(await tables().count('orders-faults', 'id', { S: 'other' })).toBe(10);
  });
});
