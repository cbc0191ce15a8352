import { isDeepStrictEqual } from 'node:util';
import { isPaused, requestedReconcile } from './annotations.ts';
import type { Clock } from './clock.ts';
import {
  CONDITION_PAUSED,
  changedConditions,
  mergeConditions,
  replaceConditions,
} from './conditions.ts';
import { KubeApiError, type KubeClient, KubeConnectionError } from './kube/client.ts';
import type { EventRecorder } from './kube/event-recorder.ts';
import type { CommonStatus, Condition, KubeObject, ObjectRef } from './kube/objects.ts';
import { ownStatus } from './kube/own-status.ts';
import type { Result, Verdict } from './reconcile.ts';

export interface StatusWriterProps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly ref: ObjectRef;
  /** As it was read at the start of the reconcile. */
  readonly object: KubeObject;
  readonly fieldManager: string;
  /** Called for each write. */
  readonly onWrite: () => void;
  /** When to give up at the latest, in milliseconds since the epoch. */
  readonly until: number;
}

/** A count that cannot be stored is a count that is lost: worth the time that a restart of the API server takes. */
const MAX_PATIENCE_MILLISECONDS = 10_000;
const FIRST_PAUSE_MILLISECONDS = 20;
const MAX_PAUSE_MILLISECONDS = 1_000;

export type StatusChange = Pick<Result, 'status' | 'conditions'>;

export interface StatusWriter {
  /** Stores the status if it differs from what is there. */
  write(change: StatusChange, options?: WriteOptions): Promise<Verdict>;
  /** The object as last seen. */
  latest(): KubeObject;
}

export interface WriteOptions {
  /** Type of the Events for changed conditions. Default Normal. */
  readonly eventType?: 'Normal' | 'Warning';
  /** Look at the object even if there is nothing to write, to learn whether it changed. Default false. */
  readonly refresh?: boolean;
  /** Default true. False where the spec was not looked at, as in a pause. */
  readonly observed?: boolean;
  /** Conditions that are not mentioned stay. Default false: they go. */
  readonly keepOthers?: boolean;
}

/**
 * Writes status by server-side apply, guarded by uid and resourceVersion: a run that was overtaken by another one, or
 * whose object was replaced, must not overwrite what the other has stored.
 */
export function createStatusWriter(props: StatusWriterProps): StatusWriter {
  const { kube, clock, events, ref, fieldManager, onWrite } = props;
  const { uid, generation } = props.object.metadata;
  // What was asked for after this run had begun is not handled by it.
  const requestedAt = requestedReconcile(props.object.metadata);
  let latest = props.object;

  const compose = ({ status, conditions }: StatusChange, options: WriteOptions): object => {
    const { observed = true, keepOthers = false } = options;
    const before: CommonStatus = latest.status ?? {};
    const previous = before.conditions ?? [];
    const given = mergeConditions(previous, conditions, { generation, now: clock.now() });
    const next = keepOthers ? replaceConditions(previous, given) : given;
    return asStored({
      ...status,
      observedGeneration: observed ? generation : before.observedGeneration,
      // Paused is ours alone: a reconciler that repeats the conditions it saw must not keep it alive.
      conditions: observed ? next.filter(({ type }) => type !== CONDITION_PAUSED) : next,
      lastHandledReconcileAt: (observed ? requestedAt : undefined) ?? before.lastHandledReconcileAt,
    });
  };

  const patiently = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const giveUpAt = Math.min(clock.now() + MAX_PATIENCE_MILLISECONDS, props.until);
    for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause *= 2) {
      const milliseconds = Math.min(pause, MAX_PAUSE_MILLISECONDS);
      try {
        return await attempt();
      } catch (error) {
        if (!mayBeTriedAgain(error) || clock.now() + milliseconds > giveUpAt) throw error;
        await clock.sleep(milliseconds);
      }
    }
  };

  /** Undefined if it was stored, else why it cannot be. */
  const store = (change: StatusChange, options: WriteOptions): Promise<string | undefined> => {
    let tried: object | undefined;
    return patiently(async () => {
      const overtaken = tried && (await look(tried));
      if (overtaken !== undefined) return overtaken;
      const status = compose(change, options);
      if (isDeepStrictEqual(status, asStored(latest.status ?? {}))) return undefined;
      const { name, namespace, resourceVersion } = latest.metadata;
      const body = { metadata: { name, namespace, uid, resourceVersion }, status };
      tried = status;
      latest = await kube.apply(ref, body, { fieldManager, subresource: 'status' });
      onWrite();
      return undefined;
    });
  };

  /** Reads the object again; tells if somebody else has taken over. `ours` is a status that we may have stored. */
  const look = async (ours?: object): Promise<string | undefined> => {
    const fresh = await kube.get(ref);
    if (!fresh) return 'the object was deleted';
    if (fresh.metadata.uid !== uid)
      return 'the object was replaced by another one of the same name';
    const known = [latest.status ?? {}, ours ?? {}].map(ownPart);
    const found = ownPart(fresh.status ?? {});
    if (!known.some((status) => isDeepStrictEqual(status, found))) {
      return 'another run has written the status';
    }
    latest = fresh;
    return undefined;
  };

  return {
    latest: () => latest,
    write: async (change, options = {}) => {
      const { eventType = 'Normal', refresh = false } = options;
      const before = latest;
      const overtaken = await store(change, options);
      if (overtaken !== undefined) return { goOn: false, why: overtaken, recorded: false };
      const conditions = latest.status?.conditions ?? [];
      for (const condition of changedConditions(conditionsOf(before), conditions)) {
        await events.record(latest, condition, eventType);
      }
      const lost = refresh && latest === before ? await patiently(() => look()) : undefined;
      if (lost !== undefined) return { goOn: false, why: lost, recorded: false };
      const why = whyStop(latest, props.object);
      return why === undefined ? { goOn: true } : { goOn: false, why, recorded: true };
    },
  };
}

/** What only a run at work writes: the rest is also written by one that finds the object busy or paused. */
const ownPart = (status: CommonStatus): object => asStored(ownStatus(status));

function whyStop({ metadata }: KubeObject, { metadata: first }: KubeObject): string | undefined {
  const finalizing = first.deletionTimestamp !== undefined;
  if (metadata.deletionTimestamp !== undefined && !finalizing) return 'the object is being deleted';
  if (metadata.generation !== first.generation) return 'the spec was changed';
  if (isPaused(metadata)) return 'the object was paused';
  return undefined;
}

/**
 * After any of these the object is read again, which also tells whether a write without an answer was stored. An API server
 * that has just started refuses (401, 403) whom it served before, until it has read who may do what.
 */
const mayBeTriedAgain = (error: unknown): boolean =>
  error instanceof KubeConnectionError ||
  (error instanceof KubeApiError &&
    (error.status >= 500 || [401, 403, 404, 409, 429].includes(error.status)));

const conditionsOf = ({ status }: KubeObject): readonly Condition[] => status?.conditions ?? [];

/** As the API server will store it, so that a comparison with what it answers is fair. It refuses half a character. */
const asStored = (status: object): object =>
  JSON.parse(
    JSON.stringify(status, (_key, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    ),
  ) as object;
