import { describe, expect, test } from 'vitest';
import type { EventPattern } from '../../local/cloud/event-pattern.ts';
import type { MessageQueue } from '../../local/cloud/queue.ts';
import type { EventBus } from '../../runtime/cloud.ts';
import { createHint } from '../../runtime/hint.ts';

export interface BusUnderTest {
  readonly bus: EventBus;
  /** By rule name: the queue that is the rule's target. */
  readonly queue: (rule: string) => MessageQueue;
}

export type MakeBus = (rules: Readonly<Record<string, EventPattern>>) => Promise<BusUnderTest>;

const job = { group: 'podless.dev', version: 'v1', kind: 'Job', plural: 'jobs' };
const shell = { group: 'podless.dev', version: 'v1', kind: 'Shell', plural: 'shells' };

const hintFor = (kind: typeof job, cluster: string) =>
  createHint({ cluster, kind, namespace: 'default', name: 'x' }, 'Changed', '1');

/** What the product relies on of an event bus, whoever provides it. */
export function describeEventBusContract(name: string, make: MakeBus): void {
  describe(`${name} as an event bus`, () => {
    test('delivers a hint to the queue of its kind, as JSON of the hint alone', async () => {
      const { bus, queue } = await make({
        jobs: { source: ['podless'], 'detail-type': ['Job'] },
        shells: { source: ['podless'], 'detail-type': ['Shell'] },
      });
      const hints = [hintFor(job, 'a'), hintFor(shell, 'a'), hintFor(job, 'b')];
      await bus.put(hints);
      expect(await received(queue('jobs'), 2)).toEqual([hints[0], hints[2]]);
      expect(await received(queue('shells'), 1)).toEqual([hints[1]]);
    });

    test('matches any value of a list and every key, also inside the detail', async () => {
      const { bus, queue } = await make({
        some: { 'detail-type': ['Job', 'Shell'], detail: { cluster: ['a', 'b'], name: ['x'] } },
        none: { 'detail-type': ['Job'], detail: { cluster: ['a'], name: ['y'] } },
      });
      await bus.put([hintFor(job, 'a'), hintFor(shell, 'b'), hintFor(job, 'c')]);
      const clusters = (await received(queue('some'), 2)).map((hint) => hint.cluster);
      expect(clusters.sort()).toEqual(['a', 'b']);
      expect(await queue('none').depth()).toMatchObject({ visible: 0 });
    });

    test('accepts more hints in one call than one request of EventBridge can hold', async () => {
      const { bus, queue } = await make({ jobs: { 'detail-type': ['Job'] } });
      await bus.put(Array.from({ length: 25 }, (_, index) => hintFor(job, `c${index}`)));
      expect(new Set((await received(queue('jobs'), 25)).map((hint) => hint.cluster)).size).toBe(
        25,
      );
    });
  });
}

async function received(queue: MessageQueue, count: number): Promise<{ cluster: string }[]> {
  const bodies: string[] = [];
  while (bodies.length < count) {
    await queue.waitForMessages(AbortSignal.timeout(10_000));
    const batch = await queue.receive({ max: 10, visibilitySeconds: 600 });
    if (batch.length === 0) break;
    bodies.push(...batch.map(({ body }) => body));
  }
  return bodies.map((body) => JSON.parse(body));
}
