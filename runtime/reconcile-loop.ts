import { isPaused } from './annotations.ts';
import { CONDITION_PAUSED, CONDITION_READY } from './conditions.ts';
import type { Deadline } from './deadline.ts';
import { OperatorError } from './errors.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';
import { KubeApiError, type KubeClient } from './kube/client.ts';
import { createEventRecorder, type EventRecorder } from './kube/event-recorder.ts';
import type { KubeObject, ObjectRef } from './kube/objects.ts';
import { describeError, type Log } from './log.ts';
import type { Operator } from './operator.ts';
import { classify, InternalError, type Outcome } from './outcome.ts';
import type { Platform } from './platform.ts';
import type { PlannedChange, ReconcileContext, Reconciler, Requeue, Result } from './reconcile.ts';
import { createStatusWriter, type StatusWriter } from './status-writer.ts';

export interface LoopProps {
  readonly operator: Operator;
  readonly reconciler: Reconciler;
  readonly cluster: string;
  readonly kube: KubeClient;
  readonly platform: Platform;
  readonly deadline: Deadline;
  readonly log: Log;
  readonly runId: string;
  readonly dryRun: boolean;
}

/** How one reconcile of one object went. */
export interface Report {
  readonly outcome: Outcome;
  /** In words. */
  readonly reason: string;
  readonly object?: KubeObject;
  readonly requeue?: Requeue;
  readonly plan?: readonly PlannedChange[];
  /** Whether anything was written to the object. */
  readonly changed: boolean;
  /** What was thrown, for the outcomes that go back to the queue. */
  readonly error?: unknown;
}

const OVERTAKEN_SECONDS = 10;
/** The last part of the wind-up time: a run must tell of its failure before it is killed. */
const GIVE_UP_SHARE = 0.1;

/** The reconcile loop: live get → paused? → deleting? finalize → add finalizer → reconcile → status. */
export async function reconcileObject(ref: ObjectRef, props: LoopProps): Promise<Report> {
  const { kube, operator, dryRun } = props;
  const object = await kube.get(ref);
  if (!object) return skipped('the object does not exist');
  const { metadata } = object;
  const { finalizer } = operator;
  const held = finalizer !== undefined && metadata.finalizers?.includes(finalizer);
  // One that was taken up before its labels changed is still cleaned up.
  if (!isSelected(operator, object) && metadata.deletionTimestamp === undefined)
    return skipped('the object does not have the labels of the selector', object);
  // A pause is the best time to ask what would be done.
  if (isPaused(metadata) && !dryRun) return pause(ref, object, props);
  if (metadata.deletionTimestamp !== undefined) {
    return held ? runGuarded(ref, object, props) : skipped('the object is being deleted', object);
  }
  const complete = held || dryRun || finalizer === undefined;
  const ready = complete ? object : await addFinalizer(ref, object, { kube, finalizer });
  return runGuarded(ref, ready, props);
}

const isSelected = ({ selector }: Operator, { metadata: { labels = {} } }: KubeObject): boolean =>
  Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);

const skipped = (reason: string, object?: KubeObject): Report => ({
  outcome: 'skipped',
  reason,
  changed: false,
  ...(object && { object }),
});

async function pause(ref: ObjectRef, object: KubeObject, props: LoopProps): Promise<Report> {
  const message = 'left alone because of the annotation podless.dev/paused';
  const paused = { type: CONDITION_PAUSED, status: 'True', reason: 'Paused', message } as const;
  const writer = writerFor(ref, object, props);
  const change = { status: object.status ?? {}, conditions: [paused] };
  await writer.write(change, { observed: false, keepOthers: true });
  const seen = writer.latest();
  return { ...skipped('the object is paused', seen), changed: seen !== object };
}

/** Runs reconcile or finalize and turns what it returns or throws into status and report. */
async function runGuarded(ref: ObjectRef, object: KubeObject, props: LoopProps): Promise<Report> {
  const writer = writerFor(ref, object, props);
  const changed = () => writer.latest() !== object;
  try {
    const report = await run(ref, object, { ...props, writer });
    return { ...report, changed: report.changed || changed() };
  } catch (error) {
    const report = await fail(error, { ...props, writer });
    return { ...report, changed: changed() };
  }
}

type RunProps = LoopProps & { readonly writer: StatusWriter };

async function run(ref: ObjectRef, object: KubeObject, props: RunProps): Promise<Report> {
  const { reconciler, writer, dryRun } = props;
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const step = deleting
    ? reconciler.finalize?.bind(reconciler)
    : reconciler.reconcile.bind(reconciler);
  const result = await step?.(object, contextFor(ref, props));
  if (dryRun) return { ...reportOf(result, object), ...(result?.plan && { plan: result.plan }) };
  if (deleting && !result?.requeue) {
    if (result && result.conditions.length > 0) await sayLast(result, props);
    return release(ref, props);
  }
  if (!result) return skipped('nothing to do', object);
  const verdict = await writer.write(result);
  if (!verdict.goOn && !verdict.recorded) {
    // The other run may have been killed after its write: somebody has to look after the object.
    const requeue = { afterSeconds: OVERTAKEN_SECONDS, reason: verdict.why };
    return { ...skipped(verdict.why, object), requeue };
  }
  // What was paused or given another spec meanwhile is not the object that was to go.
  if (result.remove !== undefined && verdict.goOn) return removeObject(ref, result.remove, props);
  return reportOf(result, writer.latest());
}

/** Whoever watches the object sees that it was cleaned up. It goes all the same if it takes no status. */
async function sayLast(result: Result, { writer, log }: RunProps): Promise<void> {
  try {
    await writer.write(result);
  } catch (refusal) {
    if (!(refusal instanceof KubeApiError)) throw refusal;
    log.error('status refused', describeError(refusal));
  }
}

function reportOf(result: Result | undefined, object: KubeObject): Report {
  const ready = result?.conditions.find(({ type }) => type === CONDITION_READY);
  const requeue = result?.requeue;
  return {
    outcome: requeue ? 'requeue' : 'done',
    reason: requeue?.reason ?? ready?.message ?? '',
    object,
    changed: false,
    ...(requeue && { requeue }),
  };
}

async function fail(error: unknown, props: RunProps): Promise<Report> {
  const { writer, reconciler, platform, dryRun, log } = props;
  const outcome = classify(error);
  const reason = error instanceof Error ? error.message : String(error);
  const object = writer.latest();
  const report = { outcome, reason, object, changed: false, error };
  if (outcome === 'retry' || dryRun) return report;
  if (outcome === 'error') {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('reconcile threw an unexpected error', { ...describeError(error), stack });
  }
  const shown = error instanceof OperatorError ? error : new InternalError(error);
  const condition = {
    type: CONDITION_READY,
    status: 'False',
    reason: shown.reason,
    message: shown.message,
  } as const;
  const now = platform.clock.now();
  const failure = reconciler.describeFailure({ object, error: shown, now });
  const { status, requeue, conditions: own = [] } = failure;
  const options = { eventType: 'Warning', keepOthers: true } as const;
  try {
    await writer.write({ status, conditions: [condition, ...own] }, options);
  } catch (refusal) {
    // Stored before its CRD had the rules that it breaks, such an object takes no status at all. Trying again would not
    // help, so the user is told by an Event.
    if (outcome !== 'terminal' || !(refusal instanceof KubeApiError)) throw refusal;
    log.error('status refused', describeError(refusal));
    await recorderFor(props).recordOnce(object, condition, 'Warning');
  }
  const next = outcome === 'terminal' && requeue ? { requeue } : {};
  return { ...report, object: writer.latest(), ...next };
}

function contextFor(ref: ObjectRef, props: RunProps): ReconcileContext {
  const { log, platform, cluster, kube, operator, deadline, runId, dryRun, writer } = props;
  return {
    log,
    clock: platform.clock,
    cluster,
    kube,
    fieldManager: fieldManagerOf(operator),
    announce: async ({ type = 'Normal', ...step }) => {
      if (!dryRun)
        await recorderFor(props).record(writer.latest(), { type: step.reason, ...step }, type);
    },
    signal: deadline.signal,
    deadline: deadline.at,
    windUpMilliseconds: deadline.windUpMilliseconds,
    runId,
    dryRun,
    isStillThere: async () => {
      const { uid, deletionTimestamp } = (await kube.get(ref, deadline.signal))?.metadata ?? {};
      return uid === writer.latest().metadata.uid && deletionTimestamp === undefined;
    },
    checkpoint: (interim) =>
      dryRun ? Promise.resolve({ goOn: true }) : writer.write(interim, { refresh: true }),
  };
}

const fieldManagerOf = ({ name }: Operator): string => `podless-${name}`;

const recorderFor = ({ kube, platform: { clock }, log, operator }: LoopProps): EventRecorder =>
  createEventRecorder({ kube, clock, log, operator: operator.name });

function writerFor(ref: ObjectRef, object: KubeObject, props: LoopProps): StatusWriter {
  const { kube, platform, deadline, operator } = props;
  const { clock, metrics } = platform;
  return createStatusWriter({
    kube,
    clock,
    ref,
    object,
    events: recorderFor(props),
    fieldManager: fieldManagerOf(operator),
    onWrite: () => metrics.count('podless_status_writes_total', { operator: operator.name }),
    until: deadline.at - deadline.windUpMilliseconds * GIVE_UP_SHARE,
  });
}

/** Lets a cleaned-up object go. Only reached if finalize succeeded. */
async function release(ref: ObjectRef, { kube, operator, writer }: RunProps): Promise<Report> {
  const object = writer.latest();
  await removeFinalizer(ref, object, { kube, finalizer: operator.finalizer });
  return { outcome: 'done', reason: 'cleaned up, the object may go', object, changed: true };
}

async function removeObject(
  ref: ObjectRef,
  reason: string,
  { kube, writer }: RunProps,
): Promise<Report> {
  const object = writer.latest();
  const { uid, resourceVersion } = object.metadata;
  await kube.delete(ref, { uid, resourceVersion, propagationPolicy: 'Background' });
  return { outcome: 'done', reason, object, changed: true };
}
