import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createCursorStore } from '../../local/cloud/cursor-store.ts';
import { createMetricsRegistry } from '../../local/cloud/metrics-registry.ts';
import { createInbox, createWorkQueue } from '../../local/cloud/ports.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import { FunctionPool, type FunctionPoolOptions } from '../../local/lambda/function-pool.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Hint } from '../../runtime/hint.ts';
import type { LogLine } from '../../runtime/log.ts';

export type TestFunction =
  | 'echo'
  | 'misbehave'
  | 'uses-ports'
  | 'does-not-load'
  | 'exports-nothing'
  | 'loads-slowly'
  | 'reconciles'
  | 'does-not-exist';

/** A pool of one of `cloud-functions/` that ends with the test, and the world around it. */
export function createTestPool(name: TestFunction, options: Partial<FunctionPoolOptions> = {}) {
  const queue = createStandardQueue({ clock: systemClock });
  const registry = createMetricsRegistry([]);
  const putHints: Hint[] = [];
  const lines: LogLine[] = [];
  const ports: FunctionPoolOptions['ports'] = {
    bus: { put: async (hints) => void putHints.push(...hints) },
    inbox: () => createInbox(queue),
    workQueue: () => createWorkQueue(queue),
    cursors: createCursorStore(),
    metrics: registry.metrics,
    token: async () => '',
  };
  const pool = new FunctionPool({
    functionName: `podless-${name}`,
    modulePath: fileURLToPath(new URL(`./cloud-functions/${name}.ts`, import.meta.url)),
    clusters: {},
    logLevel: 'info',
    environment: {},
    timeoutSeconds: 10,
    memoryMegabytes: 128,
    maxConcurrency: 4,
    ports,
    onLog: (_functionName, line) => lines.push(line),
    ...options,
  });
  onTestFinished(() => pool.stop());
  return { pool, queue, putHints, lines, metricsText: registry.text };
}
