import type { Platform } from '../../runtime/platform.ts';
import type { FromWorker, PortCall, RemoteError, ToWorker } from './protocol.ts';

/** What a function reaches across the thread boundary. */
export type RemotePorts = CloudPorts & {
  /** The present token of a cluster's connection. */
  readonly token: (cluster: string) => Promise<string>;
};

export type CloudPorts = Pick<Platform, 'bus' | 'inbox' | 'workQueue' | 'cursors' | 'metrics'>;

/** The worker's side: ports that send each call to the main thread and wait for its answer. */
export function createRemotePorts(post: (message: FromWorker) => void): {
  readonly ports: RemotePorts;
  settle(message: Exclude<ToWorker, { type: 'invoke' }>): void;
} {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const ask = (call: PortCall): Promise<unknown> => {
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    pending.set(lastId, answer);
    post({ type: 'call', id: lastId, call });
    return answer.promise;
  };
  return {
    ports: portsOver(ask, post),
    settle: (message) => {
      const answer = pending.get(message.id);
      pending.delete(message.id);
      if (message.type === 'reply') answer?.resolve(message.value);
      else answer?.reject(toError(message.error));
    },
  };
}

function portsOver(
  ask: (call: PortCall) => Promise<unknown>,
  post: (message: FromWorker) => void,
): RemotePorts {
  const tell = async (call: PortCall): Promise<void> => {
    await ask(call);
  };
  return {
    bus: { put: (hints, signal) => abortable(tell({ method: 'bus.put', hints }), signal) },
    inbox: (operator) => ({ send: (hints) => tell({ method: 'inbox.send', operator, hints }) }),
    workQueue: (operator) => ({
      retryAfter: (receiptHandle, seconds) =>
        tell({ method: 'workQueue.retryAfter', operator, receiptHandle, seconds }),
    }),
    cursors: {
      read: async (key) => {
        const cursor = await ask({ method: 'cursors.read', key });
        return typeof cursor === 'string' ? cursor : undefined;
      },
      write: (key, resourceVersion) => tell({ method: 'cursors.write', key, resourceVersion }),
      clear: (key) => tell({ method: 'cursors.clear', key }),
    },
    token: async (cluster) => String(await ask({ method: 'token', cluster })),
    metrics: {
      count: (name, labels, value = 1) =>
        post({ type: 'metric', metric: { method: 'count', name, labels, value } }),
      observe: (name, labels, value) =>
        post({ type: 'metric', metric: { method: 'observe', name, labels, value } }),
    },
  };
}

/** The main thread's side. Never rejects: what goes wrong is the worker's answer. */
export async function answerCall(
  ports: RemotePorts,
  id: number,
  call: PortCall,
): Promise<ToWorker> {
  try {
    return { type: 'reply', id, value: await perform(ports, call) };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { type: 'refusal', id, error: { name, message } };
  }
}

function perform(ports: RemotePorts, call: PortCall): Promise<unknown> {
  switch (call.method) {
    case 'bus.put':
      return ports.bus.put(call.hints);
    case 'inbox.send':
      return ports.inbox(call.operator).send(call.hints);
    case 'workQueue.retryAfter':
      return ports.workQueue(call.operator).retryAfter(call.receiptHandle, call.seconds);
    case 'cursors.read':
      return ports.cursors.read(call.key);
    case 'cursors.write':
      return ports.cursors.write(call.key, call.resourceVersion);
    case 'cursors.clear':
      return ports.cursors.clear(call.key);
    case 'token':
      return ports.token(call.cluster);
  }
}

function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function toError({ name, message }: RemoteError): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
