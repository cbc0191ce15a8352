import { operators } from '../functions/operators.ts';
import type { Clock } from '../runtime/clock.ts';
import { INBOX_MAX_RECEIVES } from '../runtime/cloud.ts';
import { HINT_SOURCE } from '../runtime/hint.ts';
import type { Log } from '../runtime/log.ts';
import { apiVersionOf, type Operator } from '../runtime/operator.ts';
import { outcomes } from '../runtime/outcome.ts';
import { createCursorStore } from './cloud/cursor-store.ts';
import { createEventBus } from './cloud/event-bus.ts';
import { createFifoQueue } from './cloud/fifo-queue.ts';
import { createMetricsRegistry, type MetricsRegistry } from './cloud/metrics-registry.ts';
import { runPipe } from './cloud/pipe.ts';
import { createInbox, createWorkQueue } from './cloud/ports.ts';
import type { FifoQueue } from './cloud/queue.ts';
import { createStandardQueue } from './cloud/standard-queue.ts';
import type { CloudPorts } from './lambda/remote-port.ts';

/** Bus, queues, pipes and metrics of all operators, in process. */
export interface Messaging {
  readonly ports: CloudPorts;
  readonly registry: MetricsRegistry;
  workQueue(operator: Operator): FifoQueue;
}

export interface MessagingOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The same parts, wired in the same way, as `cdk deploy` makes for each operator. */
export function startMessaging({ clock, log, signal }: MessagingOptions): Messaging {
  const routes = operators.map((operator) => {
    const inboxDeadLetters = createStandardQueue({ clock });
    const workDeadLetters = createFifoQueue({ clock });
    const inbox = createStandardQueue({
      clock,
      deadLetters: { queue: inboxDeadLetters, maxReceives: INBOX_MAX_RECEIVES },
    });
    const work = createFifoQueue({
      clock,
      deadLetters: { queue: workDeadLetters, maxReceives: operator.maxReceives },
    });
    return { operator, inbox, inboxDeadLetters, work, workDeadLetters };
  });
  const routeOf = (name: string) => {
    const route = routes.find(({ operator }) => operator.name === name);
    if (!route)
      throw new Error(
        `operator must be one of ${operators.map((one) => one.name).join(', ')}, got ${name}`,
      );
    return route;
  };
  const rules = routes.map(({ operator, inbox }) => ({
    name: operator.name,
    pattern: {
      source: [HINT_SOURCE],
      'detail-type': [operator.kind.kind],
      detail: { apiVersion: [apiVersionOf(operator.kind)] },
    },
    targets: [{ deliver: (body: string) => inbox.send([{ body }]) }],
  }));
  const registry = createMetricsRegistry(
    routes.flatMap(({ operator: { name }, inbox, inboxDeadLetters, work, workDeadLetters }) => [
      { name: `podless-${name}-inbox`, queue: inbox, deadLetters: inboxDeadLetters },
      { name: `podless-${name}-work.fifo`, queue: work, deadLetters: workDeadLetters },
    ]),
  );
  // Zero from the start: a graph or an alarm on errors must not wait for the first error.
  for (const { name } of operators) {
    for (const outcome of outcomes) {
      registry.metrics.count('podless_reconcile_total', { operator: name, outcome }, 0);
    }
  }
  for (const { inbox, work } of routes) void runPipe({ source: inbox, target: work, log, signal });
  return {
    ports: {
      bus: createEventBus({ clock, rules, log, signal }),
      inbox: (name) => createInbox(routeOf(name).inbox),
      workQueue: (name) => createWorkQueue(routeOf(name).work),
      cursors: createCursorStore(),
      metrics: registry.metrics,
    },
    registry,
    workQueue: ({ name }) => routeOf(name).work,
  };
}
