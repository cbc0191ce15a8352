import type { Hint } from '../hint.ts';
import { describeError } from '../log.ts';
import { createBackoff } from './backoff.ts';
import type { WatchSession } from './session.ts';
import { within } from './within.ts';

/**
 * Resolves once the bus has all hints. A bus that refuses gets the same hints again until the shift is over; meanwhile
 * the stream is not read and the cursor not moved, so nothing is lost and nothing piles up.
 */
export async function putUntilAccepted(
  hints: readonly Hint[],
  session: WatchSession,
): Promise<void> {
  const { bus, clock, signal, log, settings, tally } = session;
  const latest = latestPerObject(hints);
  const backoff = createBackoff(settings);
  while (latest.length > 0) {
    signal.throwIfAborted();
    try {
      const limit = { clock, signal, milliseconds: settings.silenceMilliseconds };
      await within(bus.put(latest, signal), limit);
      for (const { reason } of latest) tally.forwarded(reason);
      return;
    } catch (error) {
      signal.throwIfAborted();
      log.error('bus did not accept hints', { hints: latest.length, ...describeError(error) });
      await clock.sleep(backoff.next(), signal);
    }
  }
}

/** The reconciler reads the object live, so of several hints on one object the last says it all. */
function latestPerObject(hints: readonly Hint[]): readonly Hint[] {
  return [...new Map(hints.map((hint) => [`${hint.group}/${hint.uid}`, hint])).values()];
}
