import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { environmentNames } from '../runtime/aws/environment.ts';
import { ClusterAccess } from './cluster-access.ts';
import { grant } from './grants.ts';
import type { Network } from './network.ts';
import { TOOL_ARCHITECTURE, type Tool, type ToolLayers } from './tool-layers.ts';

/** What all functions have in common. */
export interface Platform {
  /** Holds a folder per bundle. */
  readonly bundleFolder: string;
  readonly toolLayers: ToolLayers;
  readonly logRetention: RetentionDays;
  /** Gets what an asynchronous run or a schedule could not do. */
  readonly failedInvocations: Queue;
  /** Default: the functions run outside any VPC. */
  readonly network?: Network;
}

export interface OperatorFunctionProps {
  readonly platform: Platform;
  /** Decides its Kubernetes group. */
  readonly name: string;
  /** Its code. Default: the bundle of its name. */
  readonly bundle?: string;
  /** Programs it runs. Default: none. */
  readonly tools?: readonly Tool[];
  readonly functionName: string;
  readonly description: string;
  readonly clusters: readonly string[];
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly environment: Readonly<Record<string, string>>;
  /** An asynchronous run that could not start by then is given up. */
  readonly maxEventAgeSeconds: number;
  /** Lambda stops a chain of messages back to the same function after 16 hops, unless told not to. Default false. */
  readonly recursive?: boolean;
}

/** One Lambda with its own role, log group and way into the clusters. */
export class OperatorFunction extends Construct {
  readonly function: LambdaFunction;
  readonly functionName: string;
  readonly role: Role;
  readonly access: ClusterAccess;

  constructor(scope: Construct, id: string, props: OperatorFunctionProps) {
    super(scope, id);
    const { platform, name, functionName, clusters } = props;
    this.functionName = functionName;
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: platform.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = createRole(this, props, logGroup);
    this.access = new ClusterAccess(this, 'Access', {
      role: this.role,
      functionName: name,
      clusters,
    });
    this.function = this.createFunction(props, logGroup);
    this.function.configureAsyncInvoke({
      maxEventAge: Duration.seconds(props.maxEventAgeSeconds),
      retryAttempts: 2,
      onFailure: { bind: () => ({ destination: platform.failedInvocations.queueArn }) },
    });
  }

  private createFunction(props: OperatorFunctionProps, logGroup: LogGroup): LambdaFunction {
    const { platform, name, functionName, description, clusters, tools = [] } = props;
    return new LambdaFunction(this, 'Function', {
      functionName,
      description,
      code: Code.fromAsset(join(platform.bundleFolder, props.bundle ?? name)),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      // The cheaper one, where nothing asks for the other.
      architecture: tools.length > 0 ? TOOL_ARCHITECTURE : Architecture.ARM_64,
      layers: tools.map((tool) => platform.toolLayers.layerOf(tool)),
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      role: this.role,
      logGroup,
      ...platform.network?.placement,
      ...(props.recursive === true ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
      environment: {
        NODE_OPTIONS: '--enable-source-maps',
        [environmentNames.clusters]: clusters.join(','),
        ...platform.network?.environment,
        ...props.environment,
      },
    });
  }
}

function createRole(
  scope: Construct,
  { platform, functionName, clusters }: OperatorFunctionProps,
  logGroup: LogGroup,
): Role {
  const stack = Stack.of(scope);
  const role = new Role(scope, 'Role', {
    description: `What the function ${functionName} may do on AWS`,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  grant(role, {
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [logGroup.logGroupArn],
  });
  grant(role, {
    actions: ['eks:DescribeCluster'],
    resources: clusters.map((resourceName) =>
      stack.formatArn({ service: 'eks', resource: 'cluster', resourceName }),
    ),
  });
  grant(role, {
    actions: ['sqs:SendMessage'],
    resources: [platform.failedInvocations.queueArn],
  });
  platform.network?.allowInterfaces(role, functionName);
  return role;
}
