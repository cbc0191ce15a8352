import { STSClient } from '@aws-sdk/client-sts';
import type { ScopedAccess } from './dynamo-client.ts';
import { openSession } from './partition-session.ts';
import { sessionPolicy } from './session-policy.ts';
import type { KeyValue } from './table.ts';

export interface TableOwner {
  readonly tableName: string;
  readonly region: string;
  readonly owner: { readonly namespace: string; readonly name: string };
}

export type PartitionAccess = (table: TableOwner) => (value: KeyValue) => ScopedAccess;

/**
 * @param roleArn the operator's scoped role
 * @returns undefined where there is no such role: on a laptop, with the rights of the person at the keyboard
 */
export function createPartitionAccess(roleArn: string | undefined): PartitionAccess | undefined {
  if (roleArn === undefined) return undefined;
  const { partition, account } = readRoleArn(roleArn);
  const sts = new STSClient({
    maxAttempts: 3,
    retryMode: 'standard',
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 3_000,
      throwOnRequestTimeout: true,
    },
  });
  return ({ tableName, region, owner }) => {
    const tableArn = `arn:${partition}:dynamodb:${region}:${account}:table/${tableName}`;
    return (value) => {
      const session = { roleArn, tableArn, value, owner };
      return {
        key: [owner.namespace, owner.name, sessionPolicy(session, Infinity)].join(' '),
        open: () => openSession(sts, session),
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
