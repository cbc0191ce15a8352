import '../helpers/dynamodb-credentials.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { withoutVariable, withText } from './altered-template.ts';
import { oneCluster } from './contexts.ts';
import { complaintsOf, type DeployedSystem, type SystemOptions } from './deployed-system.ts';
import { fillTable, isCompleted, jobsOf } from './jobs.ts';
import { useDeployedSystem } from './use-deployed-system.ts';

const clusterRole = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
};

interface Mistake {
  /** In the template. */
  readonly options?: SystemOptions;
  /** In what is there once it is deployed. */
  readonly spoil?: (system: DeployedSystem) => Promise<void>;
  /** What somebody complains of where it is made. */
  readonly complaint: string;
}

/** Changes that would break delivery: the test of the whole system must notice each of them. */
describe.skipIf(motoMissing)(`A mistake in what is deployed on ${motoName}`, () => {
  const { start, tables } = useDeployedSystem(oneCluster);

  /** The test itself, from an applied job to Completed; or to the complaint, if that comes first. */
  async function deliver(table: string, { options, spoil, complaint }: Mistake): Promise<string> {
    await fillTable(tables(), table, 20);
    const system = await start(options);
    await spoil?.(system);
    const jobs = jobsOf(system);
    await jobs.create('job', { tableName: table, partitionValue: 'mine' });
    return system.eventually(
      async () => {
        const status = await jobs.status('job');
        if (isCompleted(status)) return 'delivered';
        const complaints = complaintsOf(system.cloud, system.lines) + JSON.stringify(status);
        return complaints.includes(complaint) ? complaint : undefined;
      },
      { what: async () => `the job, or ${complaint}` },
    );
  }

  test('is none as long as there is none', async () => {
    const complaint = 'no complaint has these words';
    expect(await deliver('orders-healthy', { complaint })).toBe('delivered');
  });

  test('fails delivery: the Pipe takes the group from another place', async () => {
    const alter = withText('AWS::Pipes::Pipe', '$.body.group', '$.body.detail.group');
    const complaint = 'MessageGroupId $.body.detail.group finds no text';
    expect(await deliver('orders-path', { options: { alter }, complaint })).toBe(complaint);
  });

  test('fails delivery: a function lacks an environment variable', async () => {
    const alter = withoutVariable('PODLESS_WORK_DDBCTLDPJOB');
    const complaint = 'environment variable PODLESS_WORK_DDBCTLDPJOB must be';
    expect(await deliver('orders-variable', { options: { alter }, complaint })).toBe(complaint);
  });

  test('fails delivery: RBAC does not let the reconciler write status', async () => {
    const ref = { kind: clusterRole, namespace: '', name: 'podless:ddbctldpjob' };
    const spoil = async (system: DeployedSystem) => {
      const { admin } = system.cluster('prod');
      const role = (await admin.get(ref)) as unknown as { rules: { resources: string[] }[] };
      const rules = role.rules.filter(
        ({ resources }) => !resources.includes('ddbctldpjobs/status'),
      );
      expect(rules.length).toBe(role.rules.length - 1);
      await admin.mergePatch(ref, { rules });
      onTestFinished(async () => void (await admin.mergePatch(ref, { rules: role.rules })));
    };
    const complaint = 'cannot patch resource';
    expect(await deliver('orders-rbac', { spoil, complaint })).toBe(complaint);
  });

  test('fails delivery: a permission of the scoped role is missing', async () => {
    const alter = withText('AWS::IAM::Policy', 'dynamodb:BatchWriteItem', 'dynamodb:BatchGetItem');
    const complaint = 'not authorized to perform: dynamodb:BatchWriteItem';
    expect(await deliver('orders-iam', { options: { alter }, complaint })).toBe(complaint);
  });
});
