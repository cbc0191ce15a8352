import { operators } from '../functions/operators.ts';
import { watcherSettings } from '../functions/watcher/settings.ts';
import { environmentNames } from '../runtime/aws/environment.ts';
import { systemClock } from '../runtime/clock.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { createKubeClient } from '../runtime/kube/rest-client.ts';
import { createLog, type LogLine } from '../runtime/log.ts';
import { runEventSourceMapping } from './cloud/event-source-mapping.ts';
import { runSchedule } from './cloud/schedule.ts';
import { type Cluster, connectToCluster, startOwnCluster } from './cluster.ts';
import type { Report } from './control-plane/index.ts';
import { type DynamoDbServer, startDynamoDb } from './dynamodb/index.ts';
import { type FunctionDefinition, functionList } from './function-list.ts';
import { startHttpEndpoint } from './http-endpoint.ts';
import { FunctionPool } from './lambda/function-pool.ts';
import { startInvokeEndpoint } from './lambda/invoke-endpoint.ts';
import { applyManifests } from './manifests.ts';
import { type Messaging, startMessaging } from './messaging.ts';

export interface SystemOptions {
  /** dynalite, dynamodb-local, or the address of a DynamoDB. Default dynalite. */
  readonly dynamodb?: string;
  /** Seconds after which any function run is killed. Default: each function's own timeout. */
  readonly functionTimeout?: number;
  /** Seconds between resyncs. Default: each operator's own period. */
  readonly resync?: number;
  /** Path of a kubeconfig. Default: a control plane of our own. */
  readonly kubeconfig?: string;
  /** Default false; not for a cluster given by kubeconfig. */
  readonly auditLog?: boolean;
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
  const { report, signal } = options;
  const optional = { ...(report && { report }), ...(signal && { signal }) };
  const dynamodb = await startDynamoDb(options.dynamodb ?? 'dynalite', optional);
  onStop(() => dynamodb.stop());
  const log = createLog((line) => options.onLog?.('cloud', line));
  const running = new AbortController();
  void dynamodb.failed.then((reason) => {
    if (!running.signal.aborted) log.error('dynamodb ended', { error: reason });
  });
  const functionNames = functionList.map(({ name }) => name);
  const cluster =
    options.kubeconfig === undefined
      ? await startOwnCluster({ functionNames, auditLog: options.auditLog ?? false, ...optional })
      : await connectToCluster(options.kubeconfig);
  onStop(() => cluster.stop());
  const admin = createKubeClient(cluster.admin);
  await applyManifests(admin, signal);
  signal?.throwIfAborted();

  const messaging = startMessaging({ clock: systemClock, log, signal: running.signal });
  const pools = createPools({ cluster, dynamodb, messaging, options });
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
  return { cluster, admin, dynamodb: dynamodb.url, lambda: lambda.url, http: http.url };
}

interface PoolProps {
  readonly cluster: Cluster;
  readonly dynamodb: Pick<DynamoDbServer, 'url'>;
  readonly messaging: Messaging;
  readonly options: SystemOptions;
}

function createPools(props: PoolProps): ReadonlyMap<string, FunctionPool> {
  const { cluster, dynamodb, messaging, options } = props;
  const create = ({ name, ...definition }: FunctionDefinition) => {
    const { token, forgetToken: _forget, ...connection } = cluster.connectionOf(name);
    return new FunctionPool({
      ...definition,
      functionName: `podless-${name}`,
      timeoutSeconds: options.functionTimeout ?? definition.timeoutSeconds,
      maxConcurrency: definition.maxConcurrency + RUNS_BY_HAND,
      clusters: { [CLUSTER_NAME]: { ...connection, hasToken: token !== undefined } },
      environment: environmentOf(dynamodb.url),
      logLevel: 'info',
      ports: { ...messaging.ports, token: async () => (await token?.()) ?? '' },
      onLog: (source, line) => options.onLog?.(source, line),
    });
  };
  return new Map(functionList.map((definition) => [definition.name, create(definition)]));
}

/** What the deployed functions find in theirs; credentials of the person at the keyboard, or none that open anything. */
function environmentOf(dynamodb: string): Readonly<Record<string, string | undefined>> {
  const inherited = Object.entries(process.env).filter(([name]) =>
    /^(AWS_|HOME$|PATH$|TZ$)/.test(name),
  );
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...Object.fromEntries(inherited),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    // Whoever uses this system started it.
    [environmentNames.endpoints]: '*',
  };
}

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
