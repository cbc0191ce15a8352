import type { Operator } from '../../runtime/operator.ts';

const group = 'dynamoctl.dp.operators.sanjivmadhavan.io';

/** Deletes every item of one partition of a DynamoDB table. */
export const ddbctldpjob: Operator = {
  name: 'ddbctldpjob',
  kind: { group, version: 'v1alpha1', kind: 'DdbctlDpJob', plural: 'ddbctldpjobs' },
  owns: [],
  // Where the table is, in either shape of the spec. Never the partition's value: it may be somebody's name.
  preview: ['spec', 'spec.ddbCtlDpJob'].flatMap((path) => [
    `${path}.tableName`,
    `${path}.awsRegion`,
    `${path}.endpointURL`,
  ]),
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
