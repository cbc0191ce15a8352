import type { Readable } from 'node:stream';
import { readBatch } from './batch.ts';
import { createLineSplitter, type Line } from './lines.ts';
import { putUntilAccepted } from './outbox.ts';
import type { WatchSession } from './session.ts';
import { WatchBreak } from './watch-break.ts';
import { within } from './within.ts';

/** Like client-go: 5 to 10 minutes, so that watches spread over the API servers again after one was replaced. */
const MINIMUM_LIFE_SECONDS = 300;
const LIFE_SPREAD_SECONDS = 300;

/**
 * Opens one stream at `position` and forwards what it brings. Resolves with its life in milliseconds when the server
 * ends it, throws for any other end.
 */
export async function followStream(position: string, session: WatchSession): Promise<number> {
  const { clock, signal, tally } = session;
  const opened = clock.now();
  // Aborts with the shift, or when this stream is given up.
  const connection = new AbortController();
  const onShiftEnd = () => connection.abort(signal.reason);
  signal.addEventListener('abort', onShiftEnd, { once: true });
  try {
    const stream = await open(position, connection.signal, session);
    tally.connected();
    await readToEnd(stream, session);
    return clock.now() - opened;
  } finally {
    signal.removeEventListener('abort', onShiftEnd);
    connection.abort();
  }
}

async function open(
  resourceVersion: string,
  connection: AbortSignal,
  { kube, source, clock, settings, shiftEnd }: WatchSession,
): Promise<Readable> {
  const life = MINIMUM_LIFE_SECONDS + settings.random() * LIFE_SPREAD_SECONDS;
  const rest = (shiftEnd - clock.now()) / 1000;
  const opening = kube.watch(source.kind, {
    resourceVersion,
    ...(source.labelSelector !== undefined && { labelSelector: source.labelSelector }),
    timeoutSeconds: Math.max(1, Math.ceil(Math.min(life, rest))),
    signal: connection,
  });
  // Also for a stream that opens after nobody waits for it any more.
  const guarded = opening.then((stream) => destroyOnAbort(stream, connection));
  return within(guarded, { clock, milliseconds: settings.silenceMilliseconds, signal: connection });
}

function destroyOnAbort(stream: Readable, signal: AbortSignal): Readable {
  // Its reader sees every error; one that comes after the last read must not end the process.
  stream.on('error', () => undefined);
  const destroy = () => stream.destroy();
  if (signal.aborted) destroy();
  else signal.addEventListener('abort', destroy, { once: true });
  return stream;
}

async function readToEnd(stream: Readable, session: WatchSession): Promise<void> {
  const { clock, signal, settings } = session;
  const limit = { clock, signal, milliseconds: settings.silenceMilliseconds };
  const splitter = createLineSplitter(settings.maxLineBytes);
  const chunks = stream.iterator({ destroyOnReturn: false });
  for (;;) {
    // Only waiting for bytes counts as silence, not the time we ourselves take to hand them on.
    const chunk = await within(chunks.next(), limit);
    if (chunk.done) break;
    const lines = splitter.push(Buffer.from(chunk.value));
    for (let start = 0; start < lines.length; start += settings.maxBatch) {
      await forward(lines.slice(start, start + settings.maxBatch), session);
    }
  }
  if (splitter.pendingBytes > 0) {
    throw new WatchBreak(
      'truncated',
      `the watch ended within a line, after ${splitter.pendingBytes} bytes`,
    );
  }
}

async function forward(lines: readonly Line[], session: WatchSession): Promise<void> {
  const { cursor, recovery } = session;
  const { hints, resourceVersion, bookmarked, failure } = readBatch(lines, session);
  await putUntilAccepted(hints, session);
  if (resourceVersion !== undefined) {
    recovery.delivered();
    await cursor.moveTo(resourceVersion);
    if (bookmarked) await cursor.flush();
  }
  if (failure) throw failure;
}
