import type { SQSClient } from '@aws-sdk/client-sqs';
import type { AccessEntry } from '../cluster/access-entry.ts';
import { type Account, createAccount } from './account.ts';
import { eventsAs, sqsAs } from './clients.ts';
import type { EksCluster } from './front/eks-service.ts';
import { type Endpoint, openEndpoint } from './front/endpoint.ts';
import type { QueueModel } from './front/queue-model.ts';
import { type RunningFront, startFront } from './front/start.ts';
import { accessEntriesOf } from './provision/access-entries.ts';
import { type DeployedFunction, deployFunctions } from './provision/functions.ts';
import { provisionQueues, queueModelsOf } from './provision/queues.ts';
import { provisionRules, type TappedRule, tapRules } from './provision/rules.ts';
import { provisionTables, removeTables } from './provision/tables.ts';
import { assemblyFolderOf, readStack, type StackFile } from './stack-file.ts';
import type { Stack } from './template/stack.ts';

export interface DeploymentOptions extends StackFile {
  /** DynamoDB, for the template's tables and all others. */
  readonly dynamodbUrl: string;
  /** moto, for this deployment alone: it is emptied first. */
  readonly motoUrl: string;
  /** Control planes that play EKS clusters, by name. */
  readonly clusters: Readonly<Record<string, EksCluster>>;
  /** Default us-east-1. */
  readonly region?: string;
  /** Default: the account that moto plays. */
  readonly account?: string;
  /** Delays of messages, backoff and AWS's own retry pauses pass this many times faster. Default 1. */
  readonly timeScale?: number;
}

/** The stack, made: everything is there, and nothing moves yet. */
export interface Deployment {
  readonly stack: Stack;
  readonly account: Account;
  readonly front: RunningFront;
  readonly functions: readonly DeployedFunction[];
  readonly accessEntries: ReadonlyMap<string, readonly AccessEntry[]>;
  readonly queues: readonly QueueModel[];
  readonly rules: readonly TappedRule[];
  /** For the test itself, which may do all. */
  readonly harness: SQSClient;
  stop(): Promise<void>;
}

/** What moto takes every access key for. */
const MOTO_ACCOUNT = '123456789012';

/** Does what CloudFormation would do with a template. Throws for what AWS would refuse, and for what the harness does not know. */
export async function deploy(options: DeploymentOptions): Promise<Deployment> {
  const endpoint = await openEndpoint();
  try {
    const deployment = await deployBehind(endpoint, options);
    return {
      ...deployment,
      stop: async () => {
        await endpoint.stop();
        deployment.front.stop();
        await removeTables(deployment.stack, options.dynamodbUrl);
      },
    };
  } catch (error) {
    await endpoint.stop();
    throw error;
  }
}

async function deployBehind(
  endpoint: Endpoint,
  options: DeploymentOptions,
): Promise<Omit<Deployment, 'stop'>> {
  const { dynamodbUrl, clusters, region = 'us-east-1', timeScale = 1 } = options;
  const address = { region, account: options.account ?? MOTO_ACCOUNT, frontUrl: endpoint.url };
  const stack = readStack(options, address);
  const { place } = stack;
  const account = createAccount(stack);
  const { roles, assume } = account;
  const functions = deployFunctions({
    stack,
    roles,
    assume,
    assemblyFolder: assemblyFolderOf(options),
  });
  const accessEntries = accessEntriesOf(stack, new Set(Object.keys(clusters)));
  const queues = queueModelsOf(stack);
  const rules = tapRules(stack);
  const taps = rules.map(({ tap }) => tap);
  const front = await startFront({ ...options, endpoint, place, account, queues, taps, timeScale });
  const identity = account.identities.harness();
  const harness = sqsAs(place, identity);
  await provisionQueues(stack, harness);
  await provisionRules(stack, rules, { sqs: harness, events: eventsAs(place, identity) });
  await provisionTables(stack, dynamodbUrl);
  return { stack, account, front, functions, accessEntries, queues, rules, harness };
}
