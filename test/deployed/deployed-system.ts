import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import type { JobStatus } from '../../functions/ddbctldpjob/spec.ts';
import { startDynalite } from '../../local/dynamodb/dynalite.ts';
import type { DynamoDbServer } from '../../local/dynamodb/server.ts';
import type { CommonStatus } from '../../runtime/kube/objects.ts';
import { createLog, type LogFields } from '../../runtime/log.ts';
import { createTestTables, type Item, type TestTables } from '../helpers/dynamodb-tables.ts';
import { type Moto, startMoto } from '../helpers/moto.ts';
import { until } from '../helpers/until.ts';
import { type Cloud, type CloudOptions, startCloud } from './cloud/cloud.ts';
import { type Synthesized, synthesizeByCli } from './cloud/synthesize.ts';
import { type EksCluster, startEksCluster } from './cluster/eks-cluster.ts';
import { createFunctionHost, type FunctionHost } from './compute/function-host.ts';
import { startHostEndpoint } from './compute/invoke-endpoint.ts';

export interface SystemOptions extends Pick<CloudOptions, 'alter' | 'timeScale'> {
  /** Everything is there, and nothing moves yet. */
  readonly beforeStart?: () => Promise<unknown>;
}

export type JobState = JobStatus & CommonStatus;

/** The stack as synthesized, deployed: real bundles, real API servers behind EKS tokens, moto for the messaging. */
export interface DeployedSystem {
  readonly cloud: Cloud;
  cluster(name: string): EksCluster;
  /** As if somebody had deleted the EKS cluster: DescribeCluster knows it no more. */
  forgetCluster(name: string): void;
  host(functionName: string): FunctionHost;
  /** For `aws lambda invoke --endpoint-url`. */
  readonly lambdaUrl: string;
  /** Lines of all functions so far. */
  readonly lines: readonly LogFields[];
  createJob(name: string, spec: object, cluster?: string): Promise<unknown>;
  /** Merge patch. */
  patchJob(name: string, patch: object, cluster?: string): Promise<unknown>;
  jobStatus(name: string, cluster?: string): Promise<JobState>;
  /** Waits for a status; says what the functions and the cloud complained of if it does not come. */
  jobReaches(
    name: string,
    is: (status: JobState) => boolean,
    options?: { readonly cluster?: string; readonly seconds?: number },
  ): Promise<JobState>;
}

/** Backoff and delays pass so many times faster. */
const TIME_SCALE = 10;

/** Servers for the tests of a file, and a way to a deployed system for each. */
export function useDeployedSystem(context: { readonly clusters: string; readonly tables: string }) {
  let moto: Moto;
  let dynamodb: DynamoDbServer;
  let synthesized: Synthesized;
  let tables: TestTables;
  beforeAll(async () => {
    [moto, dynamodb, synthesized] = await Promise.all([
      startMoto(),
      startDynalite(),
      synthesizeByCli(context),
    ]);
    tables = createTestTables(dynamodb.url);
  });
  afterAll(async () => {
    await Promise.all([moto?.stop(), dynamodb?.stop(), synthesized?.remove()]);
  });
  return {
    tables: () => tables,
    dynamodbUrl: () => dynamodb.url,
    /** Deploys and lets it run until the end of the test. */
    start: async (options: SystemOptions = {}): Promise<DeployedSystem> => {
      const servers = { dynamodbUrl: dynamodb.url, motoUrl: moto.url };
      const { template } = synthesized;
      const clusters = context.clusters.split(',');
      return startSystem(clusters, { ...servers, template, timeScale: TIME_SCALE, ...options });
    },
  };
}

async function startSystem(
  names: readonly string[],
  { beforeStart, ...options }: SystemOptions & Omit<CloudOptions, 'clusters' | 'invoke'>,
): Promise<DeployedSystem> {
  const lines: LogFields[] = [];
  const log = createLog((line) => lines.push({ source: 'harness', ...line }));
  const hosts = new Map<string, FunctionHost>();
  let cloud: Cloud | undefined;
  const clusters = await Promise.all(
    names.map(async (name) => {
      const cluster = await startEksCluster({
        name,
        region: 'us-east-1',
        identify: (accessKeyId) => cloud?.identify(accessKeyId),
        accessEntries: () => cloud?.accessEntries(name) ?? [],
        log,
      });
      onTestFinished(() => cluster.stop());
      return cluster;
    }),
  );
  const hostOf = (name: string): FunctionHost => found(hosts.get(name), `function ${name}`);
  const described = Object.fromEntries(
    clusters.map(({ name, endpoint, ca }) => [name, { endpoint, ca }]),
  );
  const running = await startCloud({
    ...options,
    clusters: described,
    invoke: (name, payload) => hostOf(name).invoke(payload),
  });
  cloud = running;
  for (const deployed of running.functions) {
    const onLog = (line: LogFields) => void lines.push({ source: deployed.name, ...line });
    hosts.set(deployed.name, createFunctionHost({ ...deployed, onLog }));
  }
  // Ends before the clusters, which were registered earlier: the last to be registered ends first.
  onTestFinished(async () => {
    await running.stop();
    await Promise.all([...hosts.values()].map((host) => host.stop()));
  });
  const endpoint = await startHostEndpoint({
    hosts: [...hosts.values()],
    region: running.region,
    log,
  });
  onTestFinished(() => endpoint.stop());
  await beforeStart?.();
  await running.carry();
  return describeSystem({
    cloud: running,
    clusters,
    hostOf,
    lines,
    lambdaUrl: endpoint.url,
    forgetCluster: (name) => void delete described[name],
  });
}

interface Parts extends Pick<DeployedSystem, 'cloud' | 'lines' | 'lambdaUrl' | 'forgetCluster'> {
  readonly clusters: readonly EksCluster[];
  readonly hostOf: (name: string) => FunctionHost;
}

function describeSystem({ clusters, hostOf, ...parts }: Parts): DeployedSystem {
  const { cloud, lines } = parts;
  const cluster = (name: string) =>
    found(
      clusters.find((one) => one.name === name),
      `cluster ${name}`,
    );
  const first = clusters[0]?.name ?? '';
  const refOf = (name: string) => ({ kind: ddbctldpjob.kind, namespace: 'default', name });
  const jobStatus = async (name: string, of = first): Promise<JobState> =>
    (await cluster(of).admin.get(refOf(name)))?.status ?? {};
  return {
    ...parts,
    cluster,
    host: hostOf,
    createJob: (name, spec, of = first) =>
      cluster(of).admin.create(ddbctldpjob.kind, 'default', { metadata: { name }, spec }),
    patchJob: (name, patch, of = first) => cluster(of).admin.mergePatch(refOf(name), patch),
    jobStatus,
    jobReaches: (name, is, { cluster: of = first, seconds = 60 } = {}) =>
      until(
        async () => {
          const status = await jobStatus(name, of);
          return is(status) ? status : undefined;
        },
        {
          seconds,
          what: async () => {
            const complaints = lines.filter(({ level, message }) => level === 'error' || !message);
            const denied = cloud.calls.filter(({ allowed }) => !allowed);
            const { gaps, reports } = cloud;
            const status = await jobStatus(name, of);
            const last = complaints.slice(-5);
            return `job ${name}; ${JSON.stringify({ status, last, denied, gaps, reports }, null, 1)}`;
          },
        },
      ),
  };
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

/** A table `orders` with `count` items in partition "mine" and ten in a neighbour. */
export async function fillTable(tables: TestTables, name: string, count: number): Promise<void> {
  const partitionKey = { name: 'id', type: 'S' as const };
  await tables.create(name, { partitionKey, sortKey: { name: 'at', type: 'N' } });
  const items = (id: string, number: number): Item[] =>
    Array.from({ length: number }, (_, at) => ({ id: { S: id }, at: { N: String(at) } }));
  await tables.put(name, [...items('mine', count), ...items('other', 10)]);
}

export const isCompleted = ({ phase }: JobState): boolean => phase === 'Completed';

export const readyOf = ({ conditions }: JobState) =>
  conditions?.find(({ type }) => type === 'Ready');
