import { describeError } from '../log.ts';
import type { Kind } from '../operator.ts';
import { followStream } from './follow-stream.ts';
import { isAfter, newestResourceVersion } from './position.ts';
import { relist } from './relist.ts';
import { createSession, type WatchContext, type WatchSession } from './session.ts';
import type { WatchSource } from './source.ts';
import type { BreakCause } from './watch-break.ts';

/** Follows one source until the shift is over. Whatever goes wrong, it goes on; it never throws. */
export async function runWatch(source: WatchSource, context: WatchContext): Promise<void> {
  const session = createSession(source, context);
  const { cursor, signal, tally } = session;
  await cursor.load();
  let previous: Ending | undefined;
  while (!signal.aborted) {
    if (previous) tally.reconnected(previous.cause);
    previous = await watchOnce(session, previous);
    await pause(previous.pauseMilliseconds, session);
  }
  await cursor.flush();
}

interface Ending {
  readonly cause: BreakCause | 'ended';
  readonly pauseMilliseconds: number;
}

async function watchOnce(session: WatchSession, previous: Ending | undefined): Promise<Ending> {
  const { cursor, recovery, log } = session;
  try {
    await checkPosition(session, previous);
    const position = cursor.position ?? (await relist(session));
    if (previous?.cause === 'missing') log.info('kind is installed now');
    const life = await followStream(position, session);
    return { cause: 'ended', pauseMilliseconds: recovery.ended(life) };
  } catch (error) {
    return recover(error, session, previous);
  }
}

/** Only where there is doubt: a position from the last shift, or a stream that stayed silent. */
async function checkPosition(session: WatchSession, previous: Ending | undefined): Promise<void> {
  const { cursor, log } = session;
  const { position } = cursor;
  if (position === undefined || (previous && previous.cause !== 'silent')) return;
  const newest = await newestResourceVersion(session);
  if (!isAfter(position, newest)) return;
  log.error('position is newer than the cluster', { position, newest });
  await cursor.forget();
}

async function recover(
  error: unknown,
  session: WatchSession,
  previous: Ending | undefined,
): Promise<Ending> {
  const { cursor, recovery, tally, signal } = session;
  if (signal.aborted) return { cause: 'ended', pauseMilliseconds: 0 };
  const remedy = recovery.broken(error, cursor.position);
  if (remedy.cause === 'gone') tally.gone();
  if (remedy.cause !== 'missing' || previous?.cause !== 'missing') {
    report(error, remedy.cause, session);
  }
  if (remedy.relist) await cursor.forget();
  return remedy;
}

function report(error: unknown, cause: BreakCause, { log, source }: WatchSession): void {
  const fields = { cause, ...describeError(error) };
  if (cause === 'missing') {
    // For children it may also be their owner that is not there.
    const needs = [...new Set([source.kind, source.relistedKind].map(resourceNameOf))];
    log.info('kind is not installed', { needs, ...fields });
  } else if (cause === 'bug' && error instanceof Error) {
    const origin = error.cause instanceof Error ? error.cause : error;
    log.error('watch handler failed', { ...fields, stack: origin.stack });
  } else if (cause === 'denied') log.error('watch denied', fields);
  else if (cause === 'unreachable') log.error('cluster not reached', fields);
  else log.info('watch interrupted', fields);
}

/** As a CRD is named. */
const resourceNameOf = ({ group, plural }: Kind): string =>
  [plural, group].filter(Boolean).join('.');

async function pause(milliseconds: number, { clock, signal }: WatchSession): Promise<void> {
  if (milliseconds === 0) return;
  try {
    await clock.sleep(milliseconds, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
