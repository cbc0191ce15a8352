import { isDeepStrictEqual } from 'node:util';
import { isPaused, requestedReconcile } from './annotations.ts';
import type { Clock } from './clock.ts';
import { changedConditions, mergeConditions } from './conditions.ts';
import { KubeApiError, type KubeClient, KubeConnectionError } from './kube/client.ts';
import type { EventRecorder } from './kube/event-recorder.ts';
import type { Condition, KubeObject, ObjectRef } from './kube/objects.ts';
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
}

/** A count that cannot be stored is a count that is lost: worth some patience, within a short function timeout. */
const MAX_ATTEMPTS = 5;
const FIRST_PAUSE_MILLISECONDS = 20;

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
}

/**
 * Writes status by server-side apply, guarded by uid and resourceVersion: a run that was overtaken by another one, or
 * whose object was replaced, must not overwrite what the other has stored.
 */
export function createStatusWriter(props: StatusWriterProps): StatusWriter {
  const { kube, clock, events, ref, fieldManager, onWrite } = props;
  const { uid, generation } = props.object.metadata;
  let latest = props.object;

  const compose = ({ status, conditions }: StatusChange, observed: boolean): object => {
    const previous = latest.status?.conditions ?? [];
    const requestedAt =
      requestedReconcile(latest.metadata) ?? latest.status?.lastHandledReconcileAt;
    const observedGeneration = observed ? generation : latest.status?.observedGeneration;
    return withoutUndefined({
      ...status,
      observedGeneration,
      conditions: mergeConditions(previous, conditions, { generation, now: clock.now() }),
      lastHandledReconcileAt: requestedAt,
    });
  };

  /** Undefined if it was stored, else why it cannot be. */
  const store = async (change: StatusChange, observed: boolean): Promise<string | undefined> => {
    for (let attempt = 1; ; attempt += 1) {
      const status = compose(change, observed);
      if (isDeepStrictEqual(status, withoutUndefined(latest.status ?? {}))) return undefined;
      const { name, namespace, resourceVersion } = latest.metadata;
      const body = { metadata: { name, namespace, uid, resourceVersion }, status };
      try {
        latest = await kube.apply(ref, body, { fieldManager, subresource: 'status' });
        onWrite();
        return undefined;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !mayBeTriedAgain(error)) throw error;
        await clock.sleep(FIRST_PAUSE_MILLISECONDS * 2 ** (attempt - 1));
        const overtaken = await look(status);
        if (overtaken !== undefined) return overtaken;
      }
    }
  };

  /** Reads the object again; tells if somebody else has taken over. `ours` is a status that we may have stored. */
  const look = async (ours?: object): Promise<string | undefined> => {
    const fresh = await kube.get(ref);
    if (!fresh) return 'the object was deleted';
    if (fresh.metadata.uid !== uid)
      return 'the object was replaced by another one of the same name';
    const known = [latest.status ?? {}, ours ?? {}].map(withoutUndefined);
    const found = withoutUndefined(fresh.status ?? {});
    if (!known.some((status) => isDeepStrictEqual(status, found))) {
      return 'another run has written the status';
    }
    latest = fresh;
    return undefined;
  };

  return {
    latest: () => latest,
    write: async (change, { eventType = 'Normal', refresh = false, observed = true } = {}) => {
      const before = latest;
      const overtaken = await store(change, observed);
      if (overtaken !== undefined) return { goOn: false, why: overtaken, recorded: false };
      const conditions = latest.status?.conditions ?? [];
      for (const condition of changedConditions(conditionsOf(before), conditions)) {
        await events.record(latest, condition, eventType);
      }
      const lost = refresh && latest === before ? await look() : undefined;
      if (lost !== undefined) return { goOn: false, why: lost, recorded: false };
      const why = whyStop(latest, generation);
      return why === undefined ? { goOn: true } : { goOn: false, why, recorded: true };
    },
  };
}

function whyStop({ metadata }: KubeObject, generation: number | undefined): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'the object is being deleted';
  if (metadata.generation !== generation) return 'the spec was changed';
  if (isPaused(metadata)) return 'the object was paused';
  return undefined;
}

/** After any of these the object is read again, which also tells whether a write without an answer was stored. */
const mayBeTriedAgain = (error: unknown): boolean =>
  error instanceof KubeConnectionError ||
  (error instanceof KubeApiError &&
    (error.status >= 500 || [404, 409, 429].includes(error.status)));

const conditionsOf = ({ status }: KubeObject): readonly Condition[] => status?.conditions ?? [];

/** As the API server will store it, so that a comparison with what it answers is fair. */
const withoutUndefined = (status: object): object => JSON.parse(JSON.stringify(status)) as object;
