import { createLog, type LogFields } from '../../runtime/log.ts';
import { until } from '../helpers/until.ts';
import { type Cloud, type CloudOptions, startCloud } from './cloud/cloud.ts';
import type { EksCluster } from './cluster/eks-cluster.ts';
import { createFunctionHost, type FunctionHost } from './compute/function-host.ts';
import { startHostEndpoint } from './compute/invoke-endpoint.ts';

export interface SystemOptions extends Pick<CloudOptions, 'alter' | 'timeScale'> {
  /** Everything is there, and nothing moves yet. */
  readonly beforeStart?: () => Promise<unknown>;
}

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
  /** Waits for an answer; says what the functions and the cloud complained of if it does not come. */
  eventually<T>(
    ask: () => Promise<T | undefined>,
    options: { readonly what: () => Promise<string>; readonly seconds?: number },
  ): Promise<T>;
  /** Ends every process of the functions; the clusters stay. */
  stop(): Promise<void>;
}

export interface Surroundings extends Omit<CloudOptions, 'clusters' | 'invoke'> {
  readonly clusters: readonly EksCluster[];
  /** Called when there is a cloud that knows whose a token is: before anything moves. */
  readonly onCloud: (cloud: Cloud) => void;
  readonly lines: LogFields[];
}

export async function startSystem(
  { clusters, onCloud, lines, ...surroundings }: Surroundings,
  { beforeStart, ...options }: SystemOptions,
): Promise<DeployedSystem> {
  const log = createLog((line) => lines.push({ source: 'harness', ...line }));
  const hosts = new Map<string, FunctionHost>();
  const hostOf = (name: string): FunctionHost => found(hosts.get(name), `function ${name}`);
  const described = Object.fromEntries(
    clusters.map(({ name, endpoint, ca }) => [name, { endpoint, ca }]),
  );
  const cloud = await startCloud({
    ...surroundings,
    ...options,
    clusters: described,
    invoke: (name, payload) => hostOf(name).invoke(payload),
  });
  onCloud(cloud);
  for (const deployed of cloud.functions) {
    const onLog = (line: LogFields) => void lines.push({ source: deployed.name, ...line });
    hosts.set(deployed.name, createFunctionHost({ ...deployed, onLog }));
  }
  const all = [...hosts.values()];
  const endpoint = await startHostEndpoint({ hosts: all, region: cloud.region, log });
  const stop = async () => {
    await endpoint.stop();
    await cloud.stop();
    await Promise.all(all.map((host) => host.stop()));
  };
  try {
    await beforeStart?.();
    await cloud.carry();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    cloud,
    lines,
    stop,
    host: hostOf,
    lambdaUrl: endpoint.url,
    cluster: (name) => clusterOf(clusters, name),
    forgetCluster: (name) => void delete described[name],
    eventually: (ask, { what, seconds = 60 }) =>
      until(ask, { seconds, what: async () => `${await what()}; ${complaintsOf(cloud, lines)}` }),
  };
}

export const clusterOf = (clusters: readonly EksCluster[], name: string): EksCluster =>
  found(
    clusters.find((one) => one.name === name),
    `cluster ${name}`,
  );

/** What functions, the cloud and the harness were not happy with. */
export function complaintsOf(cloud: Cloud, lines: readonly LogFields[]): string {
  const isMetric = (line: LogFields) => '_aws' in line;
  const last = lines
    .filter((line) => line['level'] === 'error' || !(line['message'] || isMetric(line)))
    .slice(-5);
  const denied = cloud.calls.filter(({ allowed }) => !allowed);
  const { gaps, reports } = cloud;
  return JSON.stringify({ last, denied, gaps, reports }, null, 1);
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}
