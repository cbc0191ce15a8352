import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { startDynalite } from '../../local/dynamodb/dynalite.ts';
import type { DynamoDbServer } from '../../local/dynamodb/server.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { createLog, type LogFields } from '../../runtime/log.ts';
import { createTestTables, type TestTables } from '../helpers/dynamodb-tables.ts';
import type { Cloud } from './cloud/cloud.ts';
import { type ContextValues, synthesizeByCli } from './cloud/synthesize.ts';
import { type EksCluster, startEksCluster } from './cluster/eks-cluster.ts';
import { type DeployedSystem, type SystemOptions, startSystem } from './deployed-system.ts';
import { motoUrl } from './moto-url.ts';

/** Backoff and delays pass so many times faster. */
const TIME_SCALE = 10;

export interface UseOptions {
  /** Controllers, a scheduler and a node in each cluster, so that Deployments get ready and Jobs complete. Default false. */
  readonly workloads?: boolean;
}

/** Servers and clusters for all tests of a file, and a way to a deployed system. One system at a time. */
export function useDeployedSystem(
  context: ContextValues & { readonly clusters: string },
  { workloads = false }: UseOptions = {},
) {
  const names = context.clusters.split(',');
  const state: FileState = { cloud: undefined, lines: [], clusters: [] };
  let dynamodb: DynamoDbServer;
  let template: string;
  let tables: TestTables;
  beforeAll(async () => {
    const clusters = names.map((name) => startCluster(name, workloads, state));
    [dynamodb, template] = await Promise.all([
      startDynalite(),
      synthesizeByCli(context),
      ...clusters,
    ]);
    tables = createTestTables(dynamodb.url);
  });
  afterAll(async () => {
    await Promise.all([dynamodb?.stop(), ...state.clusters.map((cluster) => cluster.stop())]);
  });
  /** Deploys and lets it run until somebody stops it. */
  const deploy = (options: SystemOptions = {}): Promise<DeployedSystem> => {
    state.lines = [];
    const { lines, clusters } = state;
    const servers = { dynamodbUrl: dynamodb.url, motoUrl: motoUrl() };
    const onCloud = (cloud: Cloud) => {
      state.cloud = cloud;
    };
    const surroundings = { ...servers, template, clusters, onCloud, lines, timeScale: TIME_SCALE };
    return startSystem(surroundings, options);
  };
  return {
    tables: () => tables,
    deploy,
    /** The same until the end of the test, which leaves no object behind. */
    start: async (options: SystemOptions = {}): Promise<DeployedSystem> => {
      const system = await deploy(options);
      onTestFinished(async () => {
        await system.stop();
        await Promise.all(state.clusters.map(({ admin }) => deleteObjects(admin)));
      });
      return system;
    },
  };
}

interface FileState {
  /** Of the system that runs: knows whose a token is. */
  cloud: Cloud | undefined;
  lines: LogFields[];
  clusters: readonly EksCluster[];
}

async function startCluster(name: string, workloads: boolean, state: FileState): Promise<void> {
  const cluster = await startEksCluster({
    name,
    workloads,
    region: 'us-east-1',
    identify: (accessKeyId) => state.cloud?.identify(accessKeyId),
    accessEntries: () => state.cloud?.accessEntries(name) ?? [],
    log: createLog((line) => state.lines.push({ source: 'harness', ...line })),
  });
  state.clusters = [...state.clusters, cluster];
}

/** Of our kinds; nobody is there any more who would take a finalizer off. */
async function deleteObjects(admin: KubeClient): Promise<void> {
  for (const { kind } of operators) {
    const { items } = await admin.list(kind, { limit: 500 });
    for (const { metadata } of items as readonly KubeObject[]) {
      const ref = { kind, namespace: metadata.namespace, name: metadata.name };
      if (metadata.finalizers) await admin.mergePatch(ref, { metadata: { finalizers: null } });
      await admin.delete(ref, {});
    }
  }
}
