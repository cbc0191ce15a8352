import type { Hint } from '../hint.ts';
import type { KubeClient } from '../kube/client.ts';
import { describeError } from '../log.ts';
import { rejectUnreadable } from './batch.ts';
import { readIdentity } from './identity.ts';
import { listPages } from './list-pages.ts';
import { putUntilAccepted } from './outbox.ts';
import type { WatchSession } from './session.ts';
import { within } from './within.ts';

/**
 * Catches up where changes may have been missed: notes where a watch can start, then forwards what the objects as they
 * are now ask for. The cursor moves only when all of them have been accepted.
 *
 * @returns where the watch starts
 */
export async function relist(session: WatchSession): Promise<string> {
  const { source, settings, signal, cursor, tally, log } = session;
  const kube = impatient(session);
  const selector =
    source.labelSelector === undefined ? {} : { labelSelector: source.labelSelector };
  // Read before the objects, so that a change made while they are paged through is in the watch.
  const { resourceVersion } = await kube.list(source.kind, { limit: 1, ...selector, signal });
  if (resourceVersion === '') {
    throw new Error('metadata.resourceVersion of a list must be a non-empty string, got ""');
  }
  // Children are selected by label, their owners are not.
  const options = source.relistedKind === source.kind ? selector : {};
  let objects = 0;
  for await (const { items } of listPages(kube, source.relistedKind, {
    limit: settings.pageSize,
    ...options,
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

/** A list that is never answered is a dead connection like a silent stream. */
function impatient({ kube, clock, settings }: WatchSession): Pick<KubeClient, 'list'> {
  const limit = { clock, milliseconds: settings.silenceMilliseconds };
  return {
    list: (kind, options) =>
      within(kube.list(kind, options), {
        ...limit,
        ...(options.signal && { signal: options.signal }),
      }),
  };
}
