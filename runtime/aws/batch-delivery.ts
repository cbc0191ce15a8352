import { createAttempts, type Patience } from './attempts.ts';
import { AwsCallError, type CallFault, isPassingFault } from './call-error.ts';

/** An entry that was not taken, and why. */
export interface Refusal<Entry> {
  readonly entry: Entry;
  readonly fault: CallFault;
  readonly code: string;
  readonly message?: string | undefined;
}

export interface BatchService<Entry> {
  /** For messages: `PutEvents on bus "podless"`. */
  readonly what: string;
  /** Bytes of an entry, as the service counts them. */
  readonly sizeOf: (entry: Entry) => number;
  /** One call. Answers with the entries that were not taken; throws an AwsCallError if none was. */
  readonly send: (
    batch: readonly Entry[],
    signal?: AbortSignal,
  ) => Promise<readonly Refusal<Entry>[]>;
}

/** Both EventBridge and SQS take ten entries a call. */
const MAX_ENTRIES = 10;
/** Of an entry, and of all in a call. Newer limits are higher; a hint has less than 2 KB, so the old one will do. */
const MAX_BYTES = 256 * 1024;
const CALLS_AT_ONCE = 8;
/** Tries of an entry that the service names as wrong. It may be a mistake of the service, once or twice. */
const MAX_REFUSED_ATTEMPTS = 3;
const MAX_SHOWN_LENGTH = 300;

/**
 * Resolves once the service has taken every entry. Of a batch that was taken in part only the rest is sent again; an
 * entry may arrive twice if an answer was lost.
 */
export async function deliverAll<Entry>(
  entries: readonly Entry[],
  service: BatchService<Entry>,
  patience: Patience,
  signal?: AbortSignal,
): Promise<void> {
  checkSizes(entries, service);
  const attempts = createAttempts(patience);
  let pending = entries;
  while (pending.length > 0) {
    signal?.throwIfAborted();
    const refusals = await sendAll(pending, service, signal);
    signal?.throwIfAborted();
    if (refusals.length === 0) return;
    if (!attempts.left() || isHopeless(refusals, attempts.made)) {
      throw giveUp(refusals, `${entries.length} entries in ${attempts.made} tries`, service.what);
    }
    await attempts.pause(signal);
    pending = refusals.map(({ entry }) => entry);
  }
}

function checkSizes<Entry>(entries: readonly Entry[], { what, sizeOf }: BatchService<Entry>): void {
  const tooLarge = entries.map(sizeOf).find((bytes) => bytes > MAX_BYTES);
  if (tooLarge === undefined) return;
  throw new RangeError(`an entry of ${what} must have at most ${MAX_BYTES} bytes, got ${tooLarge}`);
}

/** Several calls at once, but not as many as there are batches. */
async function sendAll<Entry>(
  entries: readonly Entry[],
  service: BatchService<Entry>,
  signal: AbortSignal | undefined,
): Promise<readonly Refusal<Entry>[]> {
  const batches = batchesOf(entries, service.sizeOf).values();
  const refusals: Refusal<Entry>[] = [];
  const sendNext = async () => {
    for (const batch of batches) {
      if (signal?.aborted) return;
      refusals.push(...(await sendBatch(batch, service, signal)));
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, sendNext));
  return refusals;
}

async function sendBatch<Entry>(
  batch: readonly Entry[],
  service: BatchService<Entry>,
  signal: AbortSignal | undefined,
): Promise<readonly Refusal<Entry>[]> {
  try {
    return await service.send(batch, signal);
  } catch (error) {
    if (!(error instanceof AwsCallError)) throw error;
    const { fault, code, message } = error;
    return batch.map((entry) => ({ entry, fault, code, message }));
  }
}

function batchesOf<Entry>(
  entries: readonly Entry[],
  sizeOf: (entry: Entry) => number,
): readonly (readonly Entry[])[] {
  const batches: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
    const batch = batches.at(-1);
    if (batch && batch.length < MAX_ENTRIES && bytes + size <= MAX_BYTES) {
      batch.push(entry);
      bytes += size;
    } else {
      batches.push([entry]);
      bytes = size;
    }
  }
  return batches;
}

const isHopeless = (refusals: readonly Refusal<unknown>[], made: number): boolean =>
  made >= MAX_REFUSED_ATTEMPTS && refusals.some(({ fault }) => !isPassingFault(fault));

/** `PutEvents on bus "podless" did not take 3 of 25 entries in 8 tries: 2 ThrottlingException, 1 NoAnswer; Rate exceeded` */
function giveUp(refusals: readonly Refusal<unknown>[], of: string, what: string): AwsCallError {
  const byCode = Object.entries(Object.groupBy(refusals, ({ code }) => code));
  const codes = byCode.map(([code, same]) => `${same?.length ?? 0} ${code}`).join(', ');
  const worst = refusals.find(({ fault }) => !isPassingFault(fault)) ?? refusals[0];
  const detail = worst?.message ? `; ${worst.message.slice(0, MAX_SHOWN_LENGTH)}` : '';
  return new AwsCallError(`${what} did not take ${refusals.length} of ${of}: ${codes}${detail}`, {
    fault: worst?.fault ?? 'refused',
    code: worst?.code ?? '',
  });
}
