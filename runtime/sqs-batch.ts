import type { WorkQueue } from './cloud.ts';
import { describeError, type Log } from './log.ts';
import { isRecord } from './untrusted.ts';

interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

interface BatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export interface BatchProps {
  /** Throws if the message must be delivered again. */
  readonly handle: (body: unknown) => Promise<unknown>;
  readonly workQueue: WorkQueue;
  readonly log: Log;
}

export const isSqsEvent = (event: unknown): event is SqsEvent =>
  isRecord(event) && Array.isArray(event['Records']);

/** Groups side by side, the messages of one group in order; a failed message costs only the rest of its group. */
export async function processBatch(
  { Records }: SqsEvent,
  props: BatchProps,
): Promise<BatchResponse> {
  const groups = Map.groupBy(Records, groupOf);
  const failures = await Promise.all(
    [...groups.values()].map((group) => processGroup(group, props)),
  );
  return { batchItemFailures: failures.flat().map((itemIdentifier) => ({ itemIdentifier })) };
}

async function processGroup(
  records: readonly SqsRecord[],
  props: BatchProps,
): Promise<readonly string[]> {
  for (const [index, record] of records.entries()) {
    try {
      await props.handle(JSON.parse(record.body));
    } catch (error) {
      await giveBack(record, error, props);
      // What comes after a failed message of the same object must not overtake it.
      return records.slice(index).map(({ messageId }) => messageId);
    }
  }
  return [];
}

async function giveBack(
  record: SqsRecord,
  error: unknown,
  { workQueue, log }: BatchProps,
): Promise<void> {
  const receives = Number(record.attributes['ApproximateReceiveCount'] ?? 1);
  const afterSeconds = backoffSeconds(receives);
  const { messageId } = record;
  log.error('message failed', { messageId, receives, afterSeconds, ...describeError(error) });
  try {
    await workQueue.retryAfter(record.receiptHandle, afterSeconds);
  } catch (problem) {
    // Not fatal: the message comes back when the queue's own visibility timeout is over.
    log.error('visibility not changed', { messageId, ...describeError(problem) });
  }
}

/** 2, 4, 8 ... 300 seconds, half of it by chance, so that what failed together does not come back together. */
const backoffSeconds = (receives: number): number => {
  const ceiling = Math.min(2 ** Math.max(receives, 1), 300);
  return Math.ceil(ceiling / 2 + (Math.random() * ceiling) / 2);
};

const groupOf = ({ attributes, messageId }: SqsRecord): string =>
  attributes['MessageGroupId'] ?? messageId;
