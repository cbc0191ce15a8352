import type { Hint } from '../hint.ts';
import { describeUnreadable, readIdentity } from './identity.ts';
import type { Line } from './lines.ts';
import type { WatchSession } from './session.ts';
import { WatchBreak } from './watch-break.ts';
import { parseWatchEvent, resourceVersionOf, type WatchEvent } from './watch-event.ts';

/** What some lines of a stream ask for. */
export interface Batch {
  readonly hints: readonly Hint[];
  /** Where the watch may resume once the bus has the hints. `undefined`: where it was before. */
  readonly resourceVersion: string | undefined;
  readonly bookmarked: boolean;
  /** Set if the stream cannot go on after these lines. */
  readonly failure: WatchBreak | undefined;
}

type ObjectEvent = Exclude<WatchEvent, { type: 'ERROR' }>;

/** Reads up to the first line that breaks the stream, so that all before it still counts. */
export function readBatch(lines: readonly Line[], session: WatchSession): Batch {
  const hints: Hint[] = [];
  let resourceVersion: string | undefined;
  let bookmarked = false;
  for (const line of lines) {
    try {
      const event = readLine(line, session);
      if (event === undefined) continue;
      const hint =
        event.type === 'BOOKMARK' ? readBookmark(event, session) : readChange(event, session);
      if (hint !== undefined) hints.push(hint);
      bookmarked ||= event.type === 'BOOKMARK';
      resourceVersion = resourceVersionOf(event.object) ?? resourceVersion;
    } catch (error) {
      return { hints, resourceVersion, bookmarked, failure: toBreak(error) };
    }
  }
  return { hints, resourceVersion, bookmarked, failure: undefined };
}

function readLine(line: Line, { log, tally, settings }: WatchSession): ObjectEvent | undefined {
  if ('oversizedBytes' in line) {
    tally.rejected('oversized');
    log.error('watch line dropped', { bytes: line.oversizedBytes, most: settings.maxLineBytes });
    return undefined;
  }
  if (line.text.trim() === '') return undefined;
  const event = parseWatchEvent(line.text);
  if (event === undefined) {
    tally.rejected('malformed');
    // Not the line itself: it may hold a spec or a secret.
    const got = `${line.text.length} characters that are none`;
    throw new WatchBreak('malformed', `a watch line must be a JSON watch event, got ${got}`);
  }
  if (event.type !== 'ERROR') return event;
  const cause = event.code === 410 ? 'gone' : 'error_event';
  throw new WatchBreak(cause, `the watch answered ${event.code ?? 'an error'}: ${event.message}`);
}

function readBookmark({ object }: ObjectEvent, session: WatchSession): undefined {
  if (resourceVersionOf(object) === undefined) rejectUnreadable(object, session);
}

function readChange(event: ObjectEvent, session: WatchSession): Hint | undefined {
  const { type, object } = event;
  const identity = readIdentity(object);
  if (type === 'BOOKMARK' || identity === undefined) return rejectUnreadable(object, session);
  const hint = session.source.hintForChange({ type, identity, object });
  if (hint === undefined) session.tally.suppressed();
  return hint;
}

/** One object that cannot be read costs only itself. */
export function rejectUnreadable(object: unknown, { log, tally }: WatchSession): undefined {
  tally.rejected('unparsable');
  log.error('object cannot be read', describeUnreadable(object));
}

const toBreak = (error: unknown): WatchBreak =>
  error instanceof WatchBreak
    ? error
    : new WatchBreak('bug', 'an event could not be handled', { cause: error });
