import { Aws, Stack } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { environmentNames } from '../runtime/aws/environment.ts';
import { grant, grantWildcard } from './grants.ts';

/** Where charts come from, and where they may go: said at deploy time, and nowhere else. */
export interface Charts {
  readonly developmentBucket: string;
  readonly productionBucket: string;
  /** Account that owns both. Default: the stack's. */
  readonly bucketAccount?: string;
  /** Names, or patterns with `*`. Default: any the code allows. */
  readonly tenantNamespaces?: readonly string[];
}

/** All charts are below it. */
const PREFIX = 'charts/';

/** What a function that installs charts from the buckets is told. */
export const chartEnvironment = ({
  developmentBucket,
  productionBucket,
  tenantNamespaces,
}: Charts): Readonly<Record<string, string>> => ({
  [environmentNames.chartBuckets]: `development=${developmentBucket},production=${productionBucket}`,
  ...(tenantNamespaces && { [environmentNames.tenantNamespaces]: tenantNamespaces.join(',') }),
});

/**
 * Only in the account that was named: the names of buckets are taken by whoever comes first, in all of AWS, and a chart
 * from somebody else's bucket is somebody else's code in the cluster.
 */
export function grantOnCharts(role: Role, actions: readonly string[], charts: Charts): void {
  const { developmentBucket, productionBucket, bucketAccount = Aws.ACCOUNT_ID } = charts;
  const buckets = [...new Set([developmentBucket, productionBucket])].map((resource) =>
    Stack.of(role).formatArn({ service: 's3', region: '', account: '', resource }),
  );
  const conditions = { StringEquals: { 'aws:ResourceAccount': bucketAccount } };
  const onBucket = actions.filter(isOnBucket);
  const onObjects = actions.filter((action) => !isOnBucket(action));
  if (onBucket.length > 0) grant(role, { actions: onBucket, resources: buckets, conditions });
  if (onObjects.length === 0) return;
  grantWildcard(role, {
    actions: onObjects,
    resources: buckets.map((bucket) => `${bucket}/${PREFIX}*`),
    conditions,
    reason:
      'Charts are added to the buckets at any time and named by objects in the cluster: their names cannot be known here. Nothing but charts is below that prefix.',
  });
}

/** S3 knows actions on a bucket and actions on what is in it. */
const isOnBucket = (action: string): boolean => action.endsWith('Bucket');
