import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** What CloudWatch Logs allows; for ever is not among them. */
export const logRetentionDays = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
) as readonly RetentionDays[];

/** One value that `-c key=value` may give. */
export interface ContextKey {
  /** Completes "expected ...". */
  readonly expected: string;
  /** What to write after `npx cdk deploy`. */
  readonly example: string;
}

const base = '-c clusters=prod -c tables=orders';
const inVpc = `${base} -c vpcId=vpc-0a1b2c3d -c subnetIds=subnet-0a1b2c3d,subnet-4e5f6a7b`;

/** All values there are. */
export const contextKeys = {
  clusters: {
    expected:
      'EKS clusters, separated by commas: up to 100 letters, digits, - and _ each, a letter or digit first',
    example: '-c clusters=prod,staging -c tables=orders',
  },
  operators: {
    expected: 'names of operators to deploy, separated by commas (default: all there are)',
    example: `${base} -c operators=ddbctldpjob,goop`,
  },
  tables: {
    expected:
      'DynamoDB tables operators may touch, separated by commas: letters, digits, _ . and -, with * for any characters',
    example: "-c clusters=prod -c tables='orders,sessions-*'",
  },
  regions: {
    expected: 'regions of the tables, separated by commas (default: the region of the stack)',
    example: `${base} -c regions=eu-west-1,eu-central-1`,
  },
  vpcId: { expected: 'the id of a VPC, together with subnetIds', example: inVpc },
  subnetIds: {
    expected: 'ids of subnets in that VPC, separated by commas, at most one in each zone',
    example: inVpc,
  },
  routeTableIds: {
    expected:
      'ids of the route tables of those subnets: DynamoDB and S3 get gateways in them, instead of interfaces',
    example: `${inVpc} -c routeTableIds=rtb-0a1b2c3d`,
  },
  createVpcEndpoints: {
    expected:
      'true (default), or false for a VPC that has the endpoints or a way to the internet already',
    example: `${inVpc} -c createVpcEndpoints=false`,
  },
  endpoints: {
    expected:
      'origins a spec may name as endpoint, separated by commas: scheme, host, port, no path',
    example: `${base} -c endpoints=https://vpce-0a1b2c3d-4e5f.dynamodb.eu-west-1.vpce.amazonaws.com`,
  },
  developmentBucket: {
    expected: 'the S3 bucket with charts of Collectors for development (default: development-helm)',
    example: `${base} -c developmentBucket=acme-charts-dev -c productionBucket=acme-charts`,
  },
  productionBucket: {
    expected: 'the S3 bucket with charts of all other Collectors (default: production-helm)',
    example: `${base} -c developmentBucket=acme-charts-dev -c productionBucket=acme-charts`,
  },
  chartBucketAccount: {
    expected: 'the account that owns both buckets, 12 digits (default: the account of the stack)',
    example: `${base} -c chartBucketAccount=111122223333`,
  },
  tenantNamespaces: {
    expected:
      'namespaces Collectors may use, separated by commas: lower-case letters, digits and -, with * for any characters (default: all but kube-*)',
    example: `${base} -c tenantNamespaces='tenant-*,acme'`,
  },
  logRetentionDays: {
    expected: `days logs are kept (default: 30), one of ${logRetentionDays.join(', ')}`,
    example: `${base} -c logRetentionDays=90`,
  },
  alarmTopicArn: {
    expected: 'the ARN of an SNS topic, not FIFO, that is told of alarms',
    example: `${base} -c alarmTopicArn=arn:aws:sns:eu-west-1:111122223333:on-call`,
  },
} as const satisfies Record<string, ContextKey>;

export type ContextKeyName = keyof typeof contextKeys;
