import type { Hint } from '../hint.ts';
import { describeError } from '../log.ts';
import { rejectUnreadable } from './batch.ts';
import { readIdentity } from './identity.ts';
import { listPages } from './list-pages.ts';
import { putUntilAccepted } from './outbox.ts';
import { impatient, newestResourceVersion } from './position.ts';
import type { WatchSession } from './session.ts';

/**
 * Catches up where changes may have been missed: notes where a watch can start, then forwards what the objects as they
 * are now ask for. The cursor moves only when all of them have been accepted.
 *
 * @returns where the watch starts
 */
export async function relist(session: WatchSession): Promise<string> {
  const { source, settings, signal, cursor, tally, log } = session;
  const kube = impatient(session);
  // Read before the objects, so that a change made while they are paged through is in the watch.
  const resourceVersion = await newestResourceVersion(session);
  let objects = 0;
  for await (const { items } of listPages(kube, source.relistedKind, {
    limit: settings.pageSize,
    signal,
  })) {
    objects += items.length;
    const hints = items.map((item) => readItem(item, resourceVersion, session));
    await putUntilAccepted(
      hints.filter((hint) => hint !== undefined),
      session,
    );
  }
  tally.relisted();
  log.info('listed', { objects, resourceVersion });
  await cursor.moveTo(resourceVersion);
  await cursor.flush();
  return resourceVersion;
}

function readItem(
  object: unknown,
  resourceVersion: string,
  session: WatchSession,
): Hint | undefined {
  const identity = readIdentity(object);
  if (identity === undefined) return rejectUnreadable(object, session);
  try {
    const hint = session.source.hintForListed({ identity, object }, resourceVersion);
    if (hint === undefined) session.tally.suppressed();
    return hint;
  } catch (error) {
    // Not thrown on: the list would fail at this object for ever, and nobody else would be served.
    session.tally.rejected('bug');
    const { namespace, name } = identity;
    session.log.error('object could not be handled', { namespace, name, ...describeError(error) });
    return undefined;
  }
}
