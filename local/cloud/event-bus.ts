import { randomUUID } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { EventBus } from '../../runtime/cloud.ts';
import { HINT_SOURCE, type Hint } from '../../runtime/hint.ts';
import { describeError, type Log } from '../../runtime/log.ts';
import { checkPattern, type EventPattern, matchesPattern } from './event-pattern.ts';

export interface EventEntry {
  readonly source: string;
  readonly detailType: string;
  /** A JSON object as text. */
  readonly detail: string;
}

export type EntryResult =
  | { readonly eventId: string }
  | { readonly errorCode: string; readonly errorMessage: string };

export interface RuleTarget {
  /** Gets the event's detail as JSON text. A failure is tried again. */
  deliver(detail: string): Promise<unknown>;
}

export interface Rule {
  readonly name: string;
  readonly pattern: EventPattern;
  readonly targets: readonly RuleTarget[];
}

export interface LocalEventBus extends EventBus {
  /** One result an entry, in order; an entry is refused alone. Delivery to the targets goes on in the background. */
  putEvents(entries: readonly EventEntry[]): Promise<readonly EntryResult[]>;
}

export interface EventBusOptions {
  readonly clock: Clock;
  readonly rules: readonly Rule[];
  readonly log: Log;
  /** Ends retries. */
  readonly signal: AbortSignal;
  /** As EventBridge: 185 tries, then the event is dropped for that target. */
  readonly maxAttempts?: number;
}

const MAX_BACKOFF_SECONDS = 60;

/** The bus between watcher and inboxes: accepted entries go to every target of every rule that matches. */
export function createEventBus(options: EventBusOptions): LocalEventBus {
  for (const { pattern } of options.rules) checkPattern(pattern);

  const putOne = (entry: EventEntry): EntryResult => {
    const detail = parseDetail(entry.detail);
    if (detail === undefined) {
      return {
        errorCode: 'MalformedDetail',
        errorMessage: 'Detail is malformed: not a JSON object',
      };
    }
    const event = { source: entry.source, 'detail-type': entry.detailType, detail };
    for (const rule of options.rules) {
      if (!matchesPattern(rule.pattern, event)) continue;
      for (const target of rule.targets)
        void deliver(options, { rule, target, detail: entry.detail });
    }
    return { eventId: randomUUID() };
  };

  return {
    putEvents: async (entries) => entries.map(putOne),
    put: async (hints, signal) => {
      signal?.throwIfAborted();
      for (const result of hints.map((hint) => putOne(toEntry(hint)))) {
        if ('errorCode' in result)
          throw new Error(`event bus refused a hint: ${result.errorMessage}`);
      }
    },
  };
}

/** How a hint travels; the deployed bus gets the same entry. */
export const toEntry = (hint: Hint): EventEntry => ({
  source: HINT_SOURCE,
  detailType: hint.kind,
  detail: JSON.stringify(hint),
});

interface Delivery {
  readonly rule: Rule;
  readonly target: RuleTarget;
  readonly detail: string;
}

/** Never rejects: nobody waits for it. */
async function deliver(
  options: EventBusOptions,
  { rule, target, detail }: Delivery,
): Promise<void> {
  const { clock, log, signal, maxAttempts = 185 } = options;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      await target.deliver(detail);
      return;
    } catch (error) {
      const fields = { rule: rule.name, attempt, ...describeError(error) };
      if (attempt >= maxAttempts)
        return log.error('event dropped, its target keeps failing', fields);
      log.debug('event target failed, will try again', fields);
      const seconds = Math.min(2 ** (attempt - 1), MAX_BACKOFF_SECONDS);
      await clock.sleep(seconds * 1000, signal).catch(() => {});
    }
  }
}

function parseDetail(text: string): object | undefined {
  try {
    const detail: unknown = JSON.parse(text);
    return typeof detail === 'object' && detail !== null && !Array.isArray(detail)
      ? detail
      : undefined;
  } catch {
    return undefined;
  }
}
