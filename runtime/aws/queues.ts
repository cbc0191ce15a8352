import type { Inbox, WorkQueue } from '../cloud.ts';
import type { Operator } from '../operator.ts';
import { environmentNames } from './environment.ts';
import { queueUrl, readVariable } from './environment-reader.ts';
import type { PortContext, PortFactory } from './ports.ts';

/** Beside the work, which does not wait for it: not while the function starts. */
const loadSqs = () => import('./sqs.ts');

type Named = Pick<Operator, 'name'>;

/** The inboxes of these operators. A URL that is missing fails while the function starts, not at the first requeue. */
export const inboxesOf =
  (operators: readonly Named[]): PortFactory<ReadonlyMap<string, Inbox>> =>
  (context) =>
    queuesOf(operators, environmentNames.inbox, context, (queue) => ({
      send: async (hints) => (await loadSqs()).sendHints({ ...context, queue }, hints),
    }));

/** The work queues of these operators. */
export const workQueuesOf =
  (operators: readonly Named[]): PortFactory<ReadonlyMap<string, WorkQueue>> =>
  (context) =>
    queuesOf(operators, environmentNames.work, context, (queue) => ({
      retryAfter: async (receiptHandle, seconds) =>
        (await loadSqs()).changeVisibility({ ...context, queue }, receiptHandle, seconds),
    }));

function queuesOf<Port>(
  operators: readonly Named[],
  variableOf: (operator: string) => string,
  { environment }: PortContext,
  create: (url: string) => Port,
): ReadonlyMap<string, Port> {
  return new Map(
    operators.map(({ name }) => [
      name,
      create(readVariable(environment, variableOf(name), queueUrl)),
    ]),
  );
}
