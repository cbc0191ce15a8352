import type { Clock } from './clock.ts';
import type { OperatorError } from './errors.ts';
import type { KubeClient } from './kube/client.ts';
import type { Condition, KubeObject } from './kube/objects.ts';
import type { Log } from './log.ts';
import type { Preview } from './preview.ts';

/** Makes the world match one object. Every step may run twice; the object is read live and is all there is to go by. */
export interface Reconciler {
  /**
   * Begins to look up what an object is likely to need, before it is read: only once, when the function has just started
   * and has still to find its cluster. Changes nothing, decides nothing and never throws.
   */
  prepare?(preview: Preview, signal: AbortSignal): void;
  reconcile(object: KubeObject, context: ReconcileContext): Promise<Result>;
  /** Cleans up before a deleted object goes. Only called for kinds with a finalizer; must not fail if all is gone. */
  finalize?(object: KubeObject, context: ReconcileContext): Promise<Result>;
  /**
   * The kind's own status fields after an error that the user can read in the Ready condition. A requeue is only taken up
   * after an error that is not tried again by itself.
   */
  describeFailure(failure: Failure): FailureDescription;
}

export interface FailureDescription extends Pick<Result, 'status' | 'requeue'> {
  /** The kind's own conditions, where the error changes them; Ready is the runtime's. */
  readonly conditions?: readonly ConditionState[];
}

export interface Failure {
  /** As last seen. */
  readonly object: KubeObject;
  readonly error: OperatorError;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface ReconcileContext {
  readonly log: Log;
  readonly clock: Clock;
  /** Name of the object's cluster. */
  readonly cluster: string;
  /** That cluster, with the rights of this function. */
  readonly kube: KubeClient;
  /** Under which the fields of children are applied. */
  readonly fieldManager: string;
  /** Tells the user of a step by a Kubernetes Event. Changed conditions are told anyway. Does nothing in a dry run. */
  announce(step: Announcement): Promise<void>;
  /** Aborts well before the function is killed: stop, return what was reached and a requeue. */
  readonly signal: AbortSignal;
  /** When the function will be killed, in milliseconds since the epoch. No work of this run outlives it. */
  readonly deadline: number;
  /** How long before the deadline the signal aborts: the time there is to finish what is under way. */
  readonly windUpMilliseconds: number;
  /** Names this run; another run of the same object has another id. */
  readonly runId: string;
  /** Decide and answer with a plan, but write nothing anywhere. */
  readonly dryRun: boolean;
  /** Reads the object again. False if it is gone, being deleted, or another one of its name. */
  isStillThere(): Promise<boolean>;
  /** Writes interim status and tells whether this run is still the one to do the work. */
  checkpoint(interim: Pick<Result, 'status' | 'conditions'>): Promise<Verdict>;
}

export interface Announcement {
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Default Normal. */
  readonly type?: 'Normal' | 'Warning';
}

export type Verdict =
  | { readonly goOn: true }
  /** `recorded` is false if the interim status could not be stored, because another run or object has taken over. */
  | { readonly goOn: false; readonly why: string; readonly recorded: boolean };

export interface Result {
  /** The kind's own status fields, all of them: a field missing here is removed. */
  readonly status: object;
  readonly conditions: readonly ConditionState[];
  readonly requeue?: Requeue;
  /** Why the object itself should be deleted now; used for a time to live. */
  readonly remove?: string;
  /** What would be done, for a dry run. */
  readonly plan?: readonly PlannedChange[];
}

/** A condition as a reconciler sees it; times and generations are the runtime's. */
export type ConditionState = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export interface Requeue {
  /** 0 means at once. Delays above 15 minutes are cut to that: look again then. */
  readonly afterSeconds: number;
  readonly reason: string;
}

export interface PlannedChange {
  readonly action: 'create' | 'change' | 'delete' | 'none';
  readonly subject: string;
  readonly detail: string;
  /** Of a change: field by field. */
  readonly fields?: readonly FieldChange[];
}

export interface FieldChange {
  /** Such as `spec.template.spec.containers[name=app].image`. */
  readonly path: string;
  /** Absent: the field is added. */
  readonly from?: unknown;
  /** Absent: the field is removed. */
  readonly to?: unknown;
}
