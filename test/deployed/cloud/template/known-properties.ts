import { isList, isObject, type Json } from './json.ts';

/** The harness does what the property says. */
const used = 'used';
/** Understood, and of no effect on a machine without AWS: encryption, deletion rules, words for people. */
const inert = 'inert';

type Known = typeof used | typeof inert | { readonly [property: string]: Known };

const tags = { Tags: inert } as const;
const deadLetterConfig = { Arn: used } as const;
// Nothing gets as old as that in a test.
const retryPolicy = { MaximumEventAgeInSeconds: inert, MaximumRetryAttempts: used } as const;

/** Every property that the harness understands, by type. Any other one is an error: nothing new goes untested. */
const knownProperties: Readonly<Record<string, Known>> = {
  'AWS::SQS::Queue': {
    QueueName: used,
    FifoQueue: used,
    ContentBasedDeduplication: used,
    DeduplicationScope: used,
    FifoThroughputLimit: used,
    DelaySeconds: used,
    MaximumMessageSize: used,
    MessageRetentionPeriod: used,
    ReceiveMessageWaitTimeSeconds: used,
    VisibilityTimeout: used,
    RedrivePolicy: { deadLetterTargetArn: used, maxReceiveCount: used },
    RedriveAllowPolicy: { redrivePermission: used, sourceQueueArns: used },
    SqsManagedSseEnabled: inert,
    ...tags,
  },
  'AWS::SQS::QueuePolicy': { Queues: used, PolicyDocument: used },
  'AWS::Events::EventBus': { Name: used, Description: inert, ...tags },
  'AWS::Events::Rule': {
    Name: used,
    Description: inert,
    EventBusName: used,
    EventPattern: used,
    State: used,
    Targets: {
      Id: used,
      Arn: used,
      InputPath: used,
      DeadLetterConfig: deadLetterConfig,
      RetryPolicy: retryPolicy,
    },
    ...tags,
  },
  'AWS::Lambda::Function': {
    FunctionName: used,
    Description: inert,
    Code: { S3Bucket: inert, S3Key: used },
    Handler: used,
    Runtime: used,
    Layers: used,
    // Of the machine that runs the test.
    Architectures: inert,
    MemorySize: used,
    Timeout: used,
    Environment: { Variables: used },
    Role: used,
    // AWS's guard against loops is not played here.
    RecursiveLoop: inert,
    LoggingConfig: {
      LogGroup: used,
      LogFormat: inert,
      ApplicationLogLevel: inert,
      SystemLogLevel: inert,
    },
    // No network is played here: everything can be reached.
    VpcConfig: inert,
    ...tags,
  },
  'AWS::Lambda::LayerVersion': {
    Content: { S3Bucket: inert, S3Key: used },
    Description: inert,
    LicenseInfo: inert,
  },
  'AWS::Lambda::EventInvokeConfig': {
    FunctionName: used,
    Qualifier: inert,
    MaximumRetryAttempts: used,
    MaximumEventAgeInSeconds: inert,
    DestinationConfig: { OnFailure: { Destination: used } },
  },
  'AWS::Lambda::EventSourceMapping': {
    FunctionName: used,
    EventSourceArn: used,
    BatchSize: used,
    Enabled: used,
    FunctionResponseTypes: used,
    ScalingConfig: { MaximumConcurrency: used },
    FilterCriteria: { Filters: { Pattern: used } },
    ...tags,
  },
  'AWS::Pipes::Pipe': {
    Name: used,
    Description: inert,
    DesiredState: used,
    RoleArn: used,
    Source: used,
    SourceParameters: {
      // A batch may always be smaller than it could be: the harness does not wait for more.
      SqsQueueParameters: { BatchSize: used, MaximumBatchingWindowInSeconds: inert },
      FilterCriteria: { Filters: { Pattern: used } },
    },
    Target: used,
    TargetParameters: {
      InputTemplate: used,
      SqsQueueParameters: { MessageGroupId: used, MessageDeduplicationId: used },
    },
    LogConfiguration: inert,
    ...tags,
  },
  'AWS::Scheduler::ScheduleGroup': { Name: used, ...tags },
  'AWS::Scheduler::Schedule': {
    Name: used,
    GroupName: used,
    Description: inert,
    State: used,
    ScheduleExpression: used,
    ScheduleExpressionTimezone: inert,
    FlexibleTimeWindow: { Mode: inert, MaximumWindowInMinutes: inert },
    Target: {
      Arn: used,
      RoleArn: used,
      Input: used,
      RetryPolicy: retryPolicy,
      DeadLetterConfig: deadLetterConfig,
    },
  },
  'AWS::DynamoDB::Table': {
    TableName: used,
    KeySchema: { AttributeName: used, KeyType: used },
    AttributeDefinitions: { AttributeName: used, AttributeType: used },
    BillingMode: used,
    PointInTimeRecoverySpecification: inert,
    DeletionProtectionEnabled: inert,
    SSESpecification: inert,
    ...tags,
  },
  'AWS::EKS::AccessEntry': {
    ClusterName: used,
    PrincipalArn: used,
    KubernetesGroups: used,
    Username: used,
    Type: used,
    ...tags,
  },
  'AWS::IAM::Role': {
    RoleName: used,
    Description: inert,
    AssumeRolePolicyDocument: used,
    Policies: { PolicyName: inert, PolicyDocument: used },
    ManagedPolicyArns: used,
    MaxSessionDuration: used,
    ...tags,
  },
  'AWS::IAM::Policy': { PolicyName: inert, PolicyDocument: used, Roles: used },
  'AWS::IAM::ManagedPolicy': {
    ManagedPolicyName: used,
    Description: inert,
    Path: inert,
    PolicyDocument: used,
    Roles: used,
  },
  'AWS::Logs::LogGroup': { LogGroupName: used, RetentionInDays: inert, ...tags },
};

/** Types that carry no message and grant no rights. */
const typesWithoutMeaning: ReadonlySet<string> = new Set([
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::EC2::SecurityGroup',
  'AWS::EC2::VPCEndpoint',
]);

export type Meaning = 'handled' | 'without meaning';

/** Throws for a type that the harness does not know. */
export function meaningOf(type: string, logicalId: string): Meaning {
  if (knownProperties[type]) return 'handled';
  if (typesWithoutMeaning.has(type)) return 'without meaning';
  throw new Error(`the harness does not know type ${type} of ${logicalId}`);
}

/** Throws for a property that the harness does not know. */
export function checkProperties(type: string, logicalId: string, properties: Json): void {
  const check = (value: Json, known: Known, path: string): void => {
    if (typeof known === 'string') return;
    if (isList(value)) for (const one of value) check(one, known, path);
    if (!isObject(value)) return;
    for (const [key, one] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`;
      const next = known[key];
      if (next === undefined) {
        throw new Error(`the harness does not know property ${at} of type ${type} (${logicalId})`);
      }
      check(one, next, at);
    }
  };
  const known = knownProperties[type];
  if (known) check(properties, known, '');
}
