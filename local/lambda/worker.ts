import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../runtime/clock.ts';
import { toJsonLine } from '../../runtime/json-line.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeConnection } from '../../runtime/kube/transport.ts';
import { createLog } from '../../runtime/log.ts';
import type { CreateFunction, Handler, Platform } from '../../runtime/platform.ts';
import { toLambdaError } from './invocation.ts';
import type { ClusterConnection, FromWorker, ToWorker, WorkerSetup } from './protocol.ts';
import { createRemotePorts, type RemotePorts } from './remote-port.ts';

/** Entry of an execution environment: loads one function, then runs it whenever it is asked to. */

const setup = workerData as WorkerSetup;

async function start(): Promise<void> {
  if (parentPort === null) throw new Error('worker.ts must run in a worker thread');
  const port = parentPort;
  const post = (message: FromWorker) => port.postMessage(message);
  const remote = createRemotePorts(post);
  // Before the function is loaded: it may use its ports from the first line on.
  const loaded = Promise.withResolvers<Handler>();
  port.on('message', (message: ToWorker) => {
    if (message.type !== 'invoke') return remote.settle(message);
    void loaded.promise.then((handler) => invoke(handler, message)).then(post);
  });
  try {
    const platform = await createPlatform(remote.ports, post);
    loaded.resolve(await loadFunction(platform));
    post({ type: 'ready' });
  } catch (error) {
    post({ type: 'initFailed', error: toLambdaError(error) });
  }
}

async function loadFunction(platform: Platform): Promise<Handler> {
  const module: { createFunction?: CreateFunction } = await import(
    pathToFileURL(setup.modulePath).href
  );
  if (typeof module.createFunction === 'function') return module.createFunction(platform);
  const error = new Error(`${setup.modulePath} must export a function createFunction`);
  error.name = 'Runtime.HandlerNotFound';
  throw error;
}

async function createPlatform(
  ports: RemotePorts,
  post: (message: FromWorker) => void,
): Promise<Platform> {
  const clusters = Object.keys(setup.clusters);
  const { token, ...cloud } = ports;
  const connectionOf = createConnections(setup.clusters, token);
  return {
    ...cloud,
    clusters,
    kube: await createKube(connectionOf),
    kubeConnection: async (cluster) => connectionOf(cluster),
    log: createLog((line) => post({ type: 'log', line: toJsonLine(line) }), setup.logLevel),
    clock: systemClock,
    environment: { ...process.env },
  };
}

function createConnections(
  connections: Readonly<Record<string, ClusterConnection>>,
  tokenOf: RemotePorts['token'],
): (cluster: string) => KubeConnection {
  return (cluster) => {
    const connection = Object.hasOwn(connections, cluster) ? connections[cluster] : undefined;
    if (connection === undefined) {
      const served = Object.keys(connections).join(', ') || 'none';
      throw new Error(`cluster must be one of ${served}, got ${JSON.stringify(cluster)}`);
    }
    const { hasToken, ...rest } = connection;
    return { ...rest, ...(hasToken && { token: () => tokenOf(cluster) }) };
  };
}

/** Clients are made on first use and kept: a warm environment keeps its connections. */
async function createKube(
  connectionOf: (cluster: string) => KubeConnection,
): Promise<(cluster: string) => KubeClient> {
  const { createKubeClient } = await import('../../runtime/kube/rest-client.ts');
  const clients = new Map<string, KubeClient>();
  return (cluster) => {
    const client = clients.get(cluster) ?? createKubeClient(connectionOf(cluster));
    clients.set(cluster, client);
    return client;
  };
}

async function invoke(
  handler: Handler,
  { requestId, payload, deadline }: Extract<ToWorker, { type: 'invoke' }>,
): Promise<FromWorker> {
  try {
    const answer = await handler(JSON.parse(payload), {
      awsRequestId: requestId,
      functionName: setup.functionName,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    });
    return { type: 'answered', requestId, payload: JSON.stringify(answer ?? null) ?? 'null' };
  } catch (error) {
    return { type: 'failed', requestId, error: toLambdaError(error) };
  }
}

await start();
