import type { Clock } from '../../runtime/clock.ts';
import type { ScopedAccess } from './dynamo-client.ts';
import type { PartitionSession } from './partition-session.ts';
import { sessionPolicy } from './session-policy.ts';
import type { KeyValue } from './table.ts';

export interface TableOwner {
  readonly tableName: string;
  readonly region: string;
  readonly owner: { readonly namespace: string; readonly name: string };
}

export type PartitionAccess = (table: TableOwner) => (value: KeyValue) => ScopedAccess;

export interface ScopedRole {
  readonly roleArn: string;
  /** Of the function itself. */
  readonly region: string;
  readonly clock: Clock;
}

/** Rights on one partition at a time, from the operator's scoped role. Makes no call by itself. */
export function createPartitionAccess({
  roleArn,
  region: home,
  clock,
}: ScopedRole): PartitionAccess {
  const { partition, account } = readRoleArn(roleArn);
  // Loaded with the first session: most looks at a job need none.
  const load = async () => {
    const { createSts, openSession } = await import('./partition-session.ts');
    const sts = createSts(home);
    return (session: PartitionSession) => openSession(sts, session, clock);
  };
  let open: ReturnType<typeof load> | undefined;
  return ({ tableName, region, owner }) => {
    const tableArn = `arn:${partition}:dynamodb:${region}:${account}:table/${tableName}`;
    return (value) => {
      const session = { roleArn, tableArn, value, owner };
      return {
        key: [owner.namespace, owner.name, sessionPolicy(session, Infinity)].join(' '),
        open: async () => {
          open ??= load();
          return (await open)(session);
        },
      };
    };
  };
}

function readRoleArn(arn: string): { readonly partition: string; readonly account: string } {
  const match = /^arn:(?<partition>[a-z-]+):iam::(?<account>\d{12}):role\/.+$/.exec(arn);
  const { partition, account } = match?.groups ?? {};
  if (partition === undefined || account === undefined) {
    throw new Error(`the scoped role must be the ARN of a role, got ${JSON.stringify(arn)}`);
  }
  return { partition, account };
}
