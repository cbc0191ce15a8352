import type { QueueModel } from './queue-model.ts';

/** Messages that were received and not yet deleted. */
export interface InFlight {
  received(queue: QueueModel, messageId: string, handle: string, visibilitySeconds: number): void;
  /** Whether the handle is that of the last receive and its time is not over. */
  isCurrent(queue: QueueModel, handle: string): boolean;
  changed(queue: QueueModel, handle: string, visibilitySeconds: number): void;
  deleted(queue: QueueModel, handle: string): void;
  handlesOf(queue: QueueModel): readonly string[];
}

interface Receipt {
  readonly handle: string;
  readonly visibleAt: number;
}

export function createInFlight(): InFlight {
  const queues = new Map<string, Map<string, Receipt>>();
  const receiptsOf = ({ name }: QueueModel): Map<string, Receipt> => {
    const receipts = queues.get(name) ?? new Map<string, Receipt>();
    queues.set(name, receipts);
    return receipts;
  };
  const find = (queue: QueueModel, wanted: string) =>
    [...receiptsOf(queue)].find(([, { handle }]) => handle === wanted);
  const visibleAt = (seconds: number): number => Date.now() + seconds * 1000;
  return {
    received: (queue, messageId, handle, seconds) => {
      receiptsOf(queue).set(messageId, { handle, visibleAt: visibleAt(seconds) });
    },
    isCurrent: (queue, handle) => (find(queue, handle)?.[1].visibleAt ?? 0) > Date.now(),
    changed: (queue, handle, seconds) => {
      const found = find(queue, handle);
      if (found) receiptsOf(queue).set(found[0], { handle, visibleAt: visibleAt(seconds) });
    },
    deleted: (queue, handle) => {
      const found = find(queue, handle);
      if (found) receiptsOf(queue).delete(found[0]);
    },
    handlesOf: (queue) => {
      const now = Date.now();
      const receipts = [...receiptsOf(queue).values()];
      return receipts.filter((one) => one.visibleAt > now).map(({ handle }) => handle);
    },
  };
}
