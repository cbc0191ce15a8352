import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FromProxy, ToProxy } from './protocol.ts';
import type { RunCounts, RunSettings } from './settings.ts';

/** Stands between the peers and a DynamoDB engine. */
export interface BenchProxy {
  readonly url: string;
  /** From now on calls are treated by these settings, and counted from zero. */
  begin(settings: RunSettings): Promise<void>;
  /** Since the last `begin`. */
  counts(): Promise<RunCounts>;
  stop(): Promise<void>;
}

export async function startProxy(target: string): Promise<BenchProxy> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { url: target },
  });
  const next = async (): Promise<FromProxy> => {
    // Rejects if the thread fails.
    const [message] = (await once(worker, 'message')) as [FromProxy];
    return message;
  };
  const ask = async (message: ToProxy): Promise<RunCounts> => {
    const answer = next();
    worker.postMessage(message);
    const reply = await answer;
    if (reply.type !== 'counts') throw new Error(`expected counts, the proxy sent ${reply.type}`);
    return reply.counts;
  };
  const first = await next();
  if (first.type !== 'listening')
    throw new Error(`the proxy sent ${first.type} before it listened`);
  return {
    url: `http://127.0.0.1:${first.port}`,
    async begin(settings) {
      await ask({ type: 'begin', settings });
    },
    counts: () => ask({ type: 'count' }),
    async stop() {
      await worker.terminate();
    },
  };
}
