import { type Clock, systemClock } from '../clock.ts';
import type { CreateFunction, Handler } from '../platform.ts';
import { createEmbeddedMetrics, type EmbeddedMetrics } from './embedded-metrics.ts';
import { keepHeapSmall } from './heap.ts';
import { createJsonLines } from './json-lines.ts';
import { createLambdaPlatform, type LambdaHost } from './lambda-platform.ts';
import type { CloudPorts } from './ports.ts';

/** Metrics are written this often while a run goes on: CloudWatch's own grain. */
const FLUSH_MILLISECONDS = 60_000;

/**
 * Makes a Lambda handler of a function, with the cloud ports that it names. The environment is read now: what is missing
 * in it fails the start of the function, with a message. No call is made before the first event.
 *
 * @param host default: this process
 */
export function onLambda(
  createFunction: CreateFunction,
  ports: CloudPorts,
  host: LambdaHost = thisProcess(),
): Handler {
  const write = createJsonLines(host.write);
  const metrics = createEmbeddedMetrics({ write, clock: host.clock });
  const handler = createFunction(createLambdaPlatform(ports, { ...host, write, metrics }));
  return async (event, context) => {
    const end = new AbortController();
    void flushNowAndThen(metrics, host.clock, end.signal);
    try {
      return await handler(event, context);
    } finally {
      // Or its timer would fire in a later run, after this environment was frozen and thawed.
      end.abort();
      metrics.flush();
    }
  };
}

/** Until `signal` aborts. A shift of the watcher lasts for minutes, and alarms must not wait for its end. */
async function flushNowAndThen(
  metrics: EmbeddedMetrics,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(FLUSH_MILLISECONDS, signal).catch(() => undefined);
    if (!signal.aborted) metrics.flush();
  }
}

function thisProcess(): LambdaHost {
  keepHeapSmall();
  // A log that nobody reads any more must not end the function.
  process.stdout.on('error', () => undefined);
  return {
    environment: process.env,
    clock: systemClock,
    write: (text) => process.stdout.write(text),
  };
}
