import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operators } from '../functions/operators.ts';
import { watcherSettings } from '../functions/watcher/settings.ts';
import { environmentNames } from '../runtime/aws/environment.ts';
import type { Environment } from '../runtime/aws/environment-reader.ts';
import { systemClock } from '../runtime/clock.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { createKubeClient } from '../runtime/kube/rest-client.ts';
import type { KubeConnection } from '../runtime/kube/transport.ts';
import { createLog, type LogLine } from '../runtime/log.ts';
import { runEventSourceMapping } from './cloud/event-source-mapping.ts';
import { runSchedule } from './cloud/schedule.ts';
import { type Cluster, connectToCluster, startOwnCluster } from './cluster.ts';
import type { Report } from './control-plane/index.ts';
import { startDynamoDb } from './dynamodb/index.ts';
import { environmentOf } from './function-environment.ts';
import { type FunctionDefinition, functionList } from './function-list.ts';
import { resolveHelm } from './helm-binary.ts';
import { startHttpEndpoint } from './http-endpoint.ts';
import { FunctionPool } from './lambda/function-pool.ts';
import { startInvokeEndpoint } from './lambda/invoke-endpoint.ts';
import { applyManifests } from './manifests.ts';
import { type Messaging, startMessaging } from './messaging.ts';
import { startS3 } from './s3/index.ts';

export interface SystemOptions {
  /** dynalite, dynamodb-local, or the address of a DynamoDB. Default dynalite. */
  readonly dynamodb?: string;
  /** A folder with buckets, or the address of an S3. Default: AWS_ENDPOINT_URL_S3, else a folder that goes with the system. */
  readonly s3?: string;
  /** Seconds after which any function run is killed. Default: each function's own timeout. */
  readonly functionTimeout?: number;
  /** Seconds between resyncs. Default: each operator's own period. */
  readonly resync?: number;
  /** Path of a kubeconfig. Default: a control plane of our own. */
  readonly kubeconfig?: string;
  /** Default false; not for a cluster given by kubeconfig. */
  readonly auditLog?: boolean;
  /** Also controllers, a scheduler and a node, so that Deployments get ready and Jobs complete. Default false. */
  readonly workloads?: boolean;
  readonly report?: Report;
  /** Lines of the functions, and of the local cloud itself. */
  readonly onLog?: (source: string, line: LogLine) => void;
  /** Ends the start. A running system ends by `stop`. */
  readonly signal?: AbortSignal;
}

export interface System {
  readonly cluster: Cluster;
  /** With all rights, for setting up and looking at things. */
  readonly admin: KubeClient;
  /** Addresses. */
  readonly dynamodb: string;
  readonly s3: string;
  readonly lambda: string;
  readonly http: string;
  stop(): Promise<void>;
}

const CLUSTER_NAME = 'local';
/** Beyond what the queue may use, so that `aws lambda invoke` is served while the queue is busy. */
const RUNS_BY_HAND = 2;
/** How soon after its death a killed run's message comes back; on AWS that takes the visibility timeout. */
const RETRY_KILLED_RUN_SECONDS = 1;

/** The whole of Podless on one machine: the functions are the deployed ones, the cloud around them is in process. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const started: (() => Promise<unknown>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopAll(started);
    return stopping;
  };
  try {
    return { ...(await startParts(options, (end) => started.push(end))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** In the reverse order, and to the end, whatever goes wrong with one of them. */
async function stopAll(started: readonly (() => Promise<unknown>)[]): Promise<void> {
  const problems: unknown[] = [];
  for (const end of started.toReversed())
    await end().catch((error: unknown) => problems.push(error));
  if (problems.length > 0) throw new AggregateError(problems, 'not everything could be stopped');
}

type OnStop = (end: () => Promise<unknown>) => void;

async function startParts(options: SystemOptions, onStop: OnStop): Promise<Omit<System, 'stop'>> {
  const { report, signal, auditLog = false, workloads = false } = options;
  const optional = { ...(report && { report }), ...(signal && { signal }) };
  const dynamodb = await startDynamoDb(options.dynamodb ?? 'dynalite', optional);
  onStop(() => dynamodb.stop());
  const s3 = await startS3(options.s3 ?? process.env['AWS_ENDPOINT_URL_S3']);
  onStop(() => s3.stop());
  const temporary = await mkdtemp(join(tmpdir(), 'podless-functions-'));
  onStop(() => rm(temporary, { recursive: true, force: true }));
  const log = createLog((line) => options.onLog?.('cloud', line));
  const running = new AbortController();
  void dynamodb.failed.then((reason) => {
    if (!running.signal.aborted) log.error('dynamodb ended', { error: reason });
  });
  const functionNames = functionList.map(({ name }) => name);
  const prepare = (connection: KubeConnection) =>
    applyManifests(createKubeClient(connection), signal);
  const cluster =
    options.kubeconfig === undefined
      ? await startOwnCluster({ functionNames, auditLog, full: workloads, prepare, ...optional })
      : await connectToCluster(options.kubeconfig, prepare);
  onStop(() => cluster.stop());
  const admin = createKubeClient(cluster.admin);
  signal?.throwIfAborted();

  const messaging = startMessaging({ clock: systemClock, log, signal: running.signal });
  const helm = await resolveHelm().catch((error: Error) => {
    // The other operators do not need it.
    log.error('no helm', { error: error.message });
    return undefined;
  });
  const environment = environmentOf({ dynamodb: dynamodb.url, s3: s3.url, temporary });
  const pools = createPools({ cluster, environment, messaging, options, helm });
  onStop(() => Promise.all([...pools.values()].map((pool) => pool.stop())));
  startDelivery({ pools, messaging, options, log, signal: running.signal });
  onStop(async () => running.abort());
  const lambda = await startInvokeEndpoint({ functions: [...pools.values()], log });
  onStop(() => lambda.stop());
  const http = await startHttpEndpoint({
    registry: messaging.registry,
    problem: () => apiServerProblem(admin),
  });
  onStop(() => http.stop());
  const addresses = { dynamodb: dynamodb.url, s3: s3.url, lambda: lambda.url, http: http.url };
  return { cluster, admin, ...addresses };
}

interface PoolProps {
  readonly cluster: Cluster;
  readonly environment: Environment;
  readonly messaging: Messaging;
  readonly options: SystemOptions;
  /** Path of the program. */
  readonly helm: string | undefined;
}

function createPools(props: PoolProps): ReadonlyMap<string, FunctionPool> {
  const { cluster, environment, messaging, options, helm } = props;
  const create = ({ name, ...definition }: FunctionDefinition) => {
    const { token, forgetToken: _forget, ...connection } = cluster.connectionOf(name);
    return new FunctionPool({
      ...definition,
      functionName: `podless-${name}`,
      timeoutSeconds: options.functionTimeout ?? definition.timeoutSeconds,
      maxConcurrency: definition.maxConcurrency + RUNS_BY_HAND,
      clusters: { [CLUSTER_NAME]: { ...connection, hasToken: token !== undefined } },
      environment: {
        ...environment,
        [environmentNames.operator]: name,
        ...(usesHelm(name) && { [environmentNames.helm]: helm }),
      },
      logLevel: 'info',
      ports: { ...messaging.ports, token: async () => (await token?.()) ?? '' },
      onLog: (source, line) => options.onLog?.(source, line),
    });
  };
  return new Map(functionList.map((definition) => [definition.name, create(definition)]));
}

const usesHelm = (functionName: string): boolean =>
  operators.some(({ name, tools }) => name === functionName && tools?.includes('helm'));

interface DeliveryProps {
  readonly pools: ReadonlyMap<string, FunctionPool>;
  readonly messaging: Messaging;
  readonly options: SystemOptions;
  readonly log: ReturnType<typeof createLog>;
  readonly signal: AbortSignal;
}

/** Event source mappings and schedules: what wakes the functions. */
function startDelivery({ pools, messaging, options, log, signal }: DeliveryProps): void {
  const poolOf = (name: string): FunctionPool => {
    const pool = pools.get(name);
    if (!pool) throw new Error(`function ${name} must be in the function list`);
    return pool;
  };
  for (const operator of operators) {
    const pool = poolOf(operator.name);
    const { name, maxConcurrency, resyncSeconds } = operator;
    void runEventSourceMapping({
      clock: systemClock,
      queue: messaging.workQueue(operator),
      queueArn: `arn:aws:sqs:us-east-1:000000000000:podless-${name}-work.fifo`,
      invoke: (event) => pool.call(event),
      maximumConcurrency: maxConcurrency,
      visibilitySeconds: 6 * pool.timeoutSeconds,
      retryFailedRunSeconds: RETRY_KILLED_RUN_SECONDS,
      log,
      signal,
    });
    const everySeconds = options.resync ?? resyncSeconds;
    const spreadSeconds = Math.floor(everySeconds / 2);
    void runSchedule({
      clock: systemClock,
      name: `resync ${name}`,
      everySeconds,
      firstAfterSeconds: everySeconds,
      run: () => poolOf('resync').call({ operator: name, spreadSeconds }),
      log,
      signal,
    });
  }
  const shift = shiftOf(options.functionTimeout);
  void runSchedule({
    clock: systemClock,
    name: 'watcher',
    everySeconds: shift.everySeconds,
    run: () => poolOf('watcher').call({ shiftSeconds: shift.seconds }),
    log,
    signal,
  });
}

/** Shifts overlap however short a function may live. */
function shiftOf(functionTimeout: number | undefined): { everySeconds: number; seconds: number } {
  const { periodSeconds, overlapSeconds, timeoutSeconds } = watcherSettings;
  if (functionTimeout === undefined || functionTimeout >= timeoutSeconds) {
    return { everySeconds: periodSeconds, seconds: periodSeconds + overlapSeconds };
  }
  return { everySeconds: functionTimeout * 0.8, seconds: functionTimeout * 0.85 };
}

async function apiServerProblem(admin: KubeClient): Promise<string | undefined> {
  const [operator] = operators;
  if (!operator) return undefined;
  try {
    await admin.list(operator.kind, { limit: 1, signal: AbortSignal.timeout(2000) });
    return undefined;
  } catch (error) {
    return `the API server does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}
