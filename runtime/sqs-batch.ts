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
  /** Milliseconds until the function is killed. */
  readonly remainingMilliseconds: () => number;
  readonly log: Log;
}

/** Lambda does not end a function on the millisecond. */
const KILL_MARGIN_SECONDS = 15;

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
    const hidden = hideForThisRun(record, props);
    try {
      await props.handle(JSON.parse(record.body));
      await hidden;
    } catch (error) {
      // The later of the two calls counts.
      await hidden;
      await giveBack(record, error, props);
      // What comes after a failed message of the same object must not overtake it.
      return records.slice(index).map(({ messageId }) => messageId);
    }
  }
  return [];
}

/** After a kill nobody can give the message back: it must not stay hidden for much longer than this run can live. */
const hideForThisRun = (record: SqsRecord, props: BatchProps): Promise<void> =>
  hideFor(Math.ceil(props.remainingMilliseconds() / 1000) + KILL_MARGIN_SECONDS, record, props);

async function giveBack(record: SqsRecord, error: unknown, props: BatchProps): Promise<void> {
  const receives = Number(record.attributes['ApproximateReceiveCount'] ?? 1);
  const afterSeconds = backoffSeconds(receives);
  const { messageId } = record;
  props.log.error('message failed', { messageId, receives, afterSeconds, ...describeError(error) });
  await hideFor(afterSeconds, record, props);
}

async function hideFor(
  seconds: number,
  { receiptHandle, messageId }: SqsRecord,
  { workQueue, log }: BatchProps,
): Promise<void> {
  try {
    await workQueue.retryAfter(receiptHandle, seconds);
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
