import { Worker } from 'node:worker_threads';
import type { DynamoDbServer } from './server.ts';

export interface DynaliteOptions {
  /** Default: a free one. */
  readonly port?: number;
}

/** Starts dynalite: there at once, and needs nothing but npm. Runs in a thread of its own, because it is busy while it works. */
export async function startDynalite({ port = 0 }: DynaliteOptions = {}): Promise<DynamoDbServer> {
  const worker = new Worker(new URL('./dynalite-worker.ts', import.meta.url), {
    workerData: { port },
  });
  const { promise: failed, resolve: setFailed } = Promise.withResolvers<string>();
  const listening = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.on('error', (cause) => {
      const { message } = cause as Error;
      reject(new Error(`dynalite did not start on port ${port}: ${message}`, { cause }));
      setFailed(`dynalite failed: ${message}`);
    });
  });
  return {
    url: `http://127.0.0.1:${listening}`,
    failed,
    async stop() {
      await worker.terminate();
    },
  };
}
