import { createEventBus } from '../../local/cloud/event-bus.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { describeEventBusContract } from '../helpers/cloud-event-bus-contract.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';

describeEventBusContract('local/cloud', async (patterns) => {
  const clock = createVirtualClock();
  const queues = new Map(
    Object.keys(patterns).map((name) => [name, createStandardQueue({ clock })]),
  );
  const queue = (name: string) => {
    const found = queues.get(name);
    if (found) return found;
    throw new Error(`no rule ${name}`);
  };
  const rules = Object.entries(patterns).map(([name, pattern]) => ({
    name,
    pattern,
    targets: [{ deliver: (body: string) => queue(name).send([{ body }]) }],
  }));
  const { signal } = new AbortController();
  return { bus: createEventBus({ clock, rules, log: createMemoryLog().log, signal }), queue };
});
