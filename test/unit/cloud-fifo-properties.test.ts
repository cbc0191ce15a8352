import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFifoQueue } from '../../local/cloud/fifo-queue.ts';
import type { FifoQueue, ReceivedMessage } from '../../local/cloud/queue.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/cloud-clock.ts';

const MAX_RECEIVES = 3;
const WINDOW_MILLISECONDS = 300_000;

type Step =
  | { readonly do: 'send'; readonly group: number; readonly id: number }
  | { readonly do: 'receive'; readonly max: number; readonly visibilitySeconds: number }
  | { readonly do: 'delete'; readonly delivery: number }
  | { readonly do: 'changeVisibility'; readonly delivery: number; readonly seconds: number }
  | { readonly do: 'pass'; readonly seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send'), group: fc.nat(3), id: fc.nat(30) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('receive'),
      max: fc.integer({ min: 1, max: 4 }),
      visibilitySeconds: fc.integer({ min: 0, max: 20 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete'), delivery: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('changeVisibility'),
      delivery: fc.nat(),
      seconds: fc.integer({ min: 0, max: 20 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass'), seconds: fc.constantFrom(1, 5, 30, 200) }),
  },
);

/** What must be true of one accepted message, told in the plainest way. */
interface Known {
  readonly body: string;
  readonly group: string;
  hiddenUntil: number;
  receives: number;
  handle: string;
  fate: 'queued' | 'deleted' | 'dead';
}

/** A plain list that knows nothing of ready lines, heaps or handles by map. */
class Model {
  readonly messages: Known[] = [];
  readonly deliveries: ReceivedMessage[] = [];
  readonly #acceptedAt = new Map<string, number>();
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  accepts(dedupId: string): boolean {
    const before = this.#acceptedAt.get(dedupId);
    if (before !== undefined && this.#clock.now() - before < WINDOW_MILLISECONDS) return false;
    this.#acceptedAt.set(dedupId, this.#clock.now());
    return true;
  }

  /** Lets visibility timeouts pass: back to the queue, or dead after the last delivery. */
  catchUp(): void {
    for (const message of this.messages) {
      if (message.fate !== 'queued' || message.hiddenUntil > this.#clock.now()) continue;
      message.handle = '';
      if (message.receives >= MAX_RECEIVES) message.fate = 'dead';
    }
  }

  queuedOf(group: string): Known[] {
    return this.messages.filter((one) => one.group === group && one.fate === 'queued');
  }

  isBlocked(group: string): boolean {
    return this.queuedOf(group).some(({ hiddenUntil }) => hiddenUntil > this.#clock.now());
  }

  get readyGroups(): Set<string> {
    const queued = this.messages.filter(({ fate }) => fate === 'queued').map(({ group }) => group);
    return new Set(queued.filter((group) => !this.isBlocked(group)));
  }
}

test('a FIFO queue keeps its promises under any sends, receives, deletes and expiries', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 120, size: 'max' }),
    async (steps) => {
      const clock = createVirtualClock();
      const deadLetters = createFifoQueue({ clock });
      const policy = { queue: deadLetters, maxReceives: MAX_RECEIVES };
      const queue = createFifoQueue({ clock, deadLetters: policy });
      const model = new Model(clock);
      for (const [index, one] of steps.entries()) {
        await perform(one, { queue, clock, model, body: `message ${index}` });
        model.catchUp();
      }
      await expectNothingLost(queue, deadLetters, model);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

interface World {
  readonly queue: FifoQueue;
  readonly clock: VirtualClock;
  readonly model: Model;
  readonly body: string;
}

async function perform(one: Step, world: World): Promise<void> {
  const { queue, clock, model, body } = world;
  switch (one.do) {
    case 'send': {
      const group = `g${one.group}`;
      await queue.send([{ body, group, dedupId: `d${one.id}` }]);
      if (!model.accepts(`d${one.id}`)) return;
      model.messages.push({ body, group, hiddenUntil: 0, receives: 0, handle: '', fate: 'queued' });
      return;
    }
    case 'receive':
      return expectRightBatch(one, world);
    case 'delete':
      return deleteSome(one.delivery, world);
    case 'changeVisibility':
      return changeSome(one, world);
    case 'pass':
      return clock.advance(one.seconds * 1000);
  }
}

async function expectRightBatch(
  request: { readonly max: number; readonly visibilitySeconds: number },
  { queue, clock, model }: World,
): Promise<void> {
  const ready = model.readyGroups;
  const expectedOf = new Map([...ready].map((group) => [group, model.queuedOf(group)]));
  const batch = await queue.receive(request);
  const available = [...expectedOf.values()].reduce((sum, list) => sum + list.length, 0);
  expect(batch.length).toBe(Math.min(request.max, available));
  for (const message of batch) {
    // Undefined, and so a failure, if the group was blocked; the wrong body if the order was broken.
    const expected = expectedOf.get(message.fifo?.group ?? '')?.shift();
    expect(message.body).toBe(expected?.body);
    if (expected === undefined) continue;
    expected.receives += 1;
    expected.handle = message.receiptHandle;
    expected.hiddenUntil = clock.now() + request.visibilitySeconds * 1000;
    expect(message.receiveCount).toBe(expected.receives);
    model.deliveries.push(message);
  }
}

async function deleteSome(index: number, { queue, model }: World): Promise<void> {
  const delivery = model.deliveries[index % model.deliveries.length];
  if (delivery === undefined) return;
  await queue.delete(delivery.receiptHandle);
  const known = model.messages.find(({ handle }) => handle === delivery.receiptHandle);
  if (known?.fate === 'queued') known.fate = 'deleted';
}

async function changeSome(
  { delivery: index, seconds }: { readonly delivery: number; readonly seconds: number },
  { queue, clock, model }: World,
): Promise<void> {
  const delivery = model.deliveries[index % model.deliveries.length];
  if (delivery === undefined) return;
  const known = model.messages.find(({ handle }) => handle === delivery.receiptHandle);
  const changed = queue.changeVisibility(delivery.receiptHandle, seconds);
  if (known?.fate !== 'queued') return expect(changed).rejects.toThrow('not in flight');
  await changed;
  known.hiddenUntil = clock.now() + seconds * 1000;
}

async function expectNothingLost(queue: FifoQueue, deadLetters: FifoQueue, model: Model) {
  const count = (fate: Known['fate']) => model.messages.filter((one) => one.fate === fate).length;
  const { visible, inFlight } = await queue.depth();
  expect(visible + inFlight).toBe(count('queued'));
  expect((await deadLetters.depth()).visible).toBe(count('dead'));
}
