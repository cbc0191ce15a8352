import '../helpers/dynamodb-credentials.ts';
import { describe, expect, test } from 'vitest';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { withoutVariable, withText } from './altered-template.ts';
import {
  type DeployedSystem,
  fillTable,
  isCompleted,
  type SystemOptions,
  useDeployedSystem,
} from './deployed-system.ts';

const clusterRole = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
};

/** A healthy system needs a few seconds, on a busy machine more; the first test has all the time it wants. */
const SECONDS = { healthy: 60, spoilt: 15 };

/** Changes that would break delivery: the test of the whole system must notice each of them. */
describe.skipIf(motoMissing)(`A mistake in what is deployed on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem({ clusters: 'prod', tables: 'orders-*' });

  /** The test itself: from an applied job to Completed. */
  async function deliver(
    table: string,
    options: SystemOptions = {},
    spoil?: (system: DeployedSystem) => Promise<void>,
    seconds = SECONDS.spoilt,
  ) {
    await fillTable(tables(), table, 20);
    const system = await start(options);
    await spoil?.(system);
    await system.createJob('job', { tableName: table, partitionValue: 'mine' });
    await system.jobReaches('job', isCompleted, { seconds });
  }

  test('is none as long as there is none', async () => {
    await deliver('orders-healthy', {}, undefined, SECONDS.healthy);
  });

  test('fails delivery: the Pipe takes the group from another place', async () => {
    const alter = withText('AWS::Pipes::Pipe', '$.body.group', '$.body.detail.group');
    await expect(deliver('orders-path', { alter })).rejects.toThrow('job job');
  });

  test('fails delivery: a function lacks an environment variable', async () => {
    const alter = withoutVariable('PODLESS_WORK_DDBCTLDPJOB');
    await expect(deliver('orders-variable', { alter })).rejects.toThrow('PODLESS_WORK_DDBCTLDPJOB');
  });

  test('fails delivery: RBAC does not let the reconciler write status', async () => {
    const ref = { kind: clusterRole, namespace: '', name: 'podless:ddbctldpjob' };
    const withoutStatus = async (system: DeployedSystem) => {
      const { admin } = system.cluster('prod');
      const role = (await admin.get(ref)) as unknown as { rules: { resources: string[] }[] };
      const rules = role.rules.filter(
        ({ resources }) => !resources.includes('ddbctldpjobs/status'),
      );
      expect(rules.length).toBe(role.rules.length - 1);
      await admin.mergePatch(ref, { rules });
    };
    await expect(deliver('orders-rbac', {}, withoutStatus)).rejects.toThrow('forbidden');
  });

  test('fails delivery: a permission of the scoped role is missing', async () => {
    const alter = withText('AWS::IAM::Policy', 'dynamodb:BatchWriteItem', 'dynamodb:BatchGetItem');
    await expect(deliver('orders-iam', { alter })).rejects.toThrow('BatchWriteItem');
  });
});
