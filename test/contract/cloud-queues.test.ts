import { createFifoQueue } from '../../local/cloud/fifo-queue.ts';
import { createStandardQueue } from '../../local/cloud/standard-queue.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import {
  describeFifoQueueContract,
  describeStandardQueueContract,
} from '../helpers/cloud-queue-contract.ts';

describeStandardQueueContract('local/cloud', async ({ maxReceives }) => {
  const clock = createVirtualClock();
  const deadLetters = createStandardQueue({ clock });
  const queue = createStandardQueue({ clock, deadLetters: { queue: deadLetters, maxReceives } });
  return { queue, deadLetters, passSeconds: (seconds) => clock.advance(seconds * 1000) };
});

describeFifoQueueContract('local/cloud', async ({ maxReceives }) => {
  const clock = createVirtualClock();
  const deadLetters = createFifoQueue({ clock });
  const queue = createFifoQueue({ clock, deadLetters: { queue: deadLetters, maxReceives } });
  return { queue, deadLetters, passSeconds: (seconds) => clock.advance(seconds * 1000) };
});
