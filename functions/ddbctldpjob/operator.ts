import type { Operator } from '../../runtime/operator.ts';

const group = 'dynamoctl.dp.operators.sanjivmadhavan.io';

/** Deletes every item of one partition of a DynamoDB table. */
export const ddbctldpjob: Operator = {
  name: 'ddbctldpjob',
  kind: { group, version: 'v1alpha1', kind: 'DdbctlDpJob', plural: 'ddbctldpjobs' },
  owns: [],
  resyncSeconds: 600,
  timeoutSeconds: 900,
  memoryMegabytes: 512,
  maxConcurrency: 10,
  maxReceives: 5,
  // A finished job is removed after its ttlSecondsAfterFinished.
  rbac: [{ apiGroups: [group], resources: ['ddbctldpjobs'], verbs: ['delete'] }],
  iam: [
    { actions: ['dynamodb:DescribeTable'], on: 'tables' },
    {
      actions: ['dynamodb:Query', 'dynamodb:BatchWriteItem', 'dynamodb:DeleteItem'],
      on: 'tables',
      scoped: true,
    },
  ],
};
