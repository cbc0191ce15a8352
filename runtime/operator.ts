/** A Kubernetes kind, as its REST path needs it. The core group is ''. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** A kind of which this operator makes children. They are watched, and a change wakes their owner. */
export interface OwnedKind extends Kind {
  /** Only children that match are watched, so the load follows our objects and not the cluster's size. */
  readonly labelSelector: string;
  /** What the reconciler may do with them. */
  readonly verbs: readonly string[];
}

export interface RbacRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * The one declaration of an operator, plain data. Queue, rule, role, RBAC, alarms and the local run follow from it.
 */
export interface Operator {
  /** The Lambda is called `podless-<name>`, the Kubernetes group `podless:<name>`. */
  readonly name: string;
  /** Folder of its code in functions/, which several operators may share. Default: its name. */
  readonly code?: string;
  readonly kind: Kind;
  /** Only objects with these labels are reconciled; the others are left alone. Default: all. */
  readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
  /**
   * Paths of fields that travel with the hint on a new or changed object, so that a function that has just started can look
   * up what they name while it connects to the cluster. Default: none.
   */
  readonly preview?: readonly string[];
  /** Set if something outside the object must be cleaned up before the object may go. */
  readonly finalizer?: string;
  readonly owns: readonly OwnedKind[];
  /** How often every object is looked at again without an event. */
  readonly resyncSeconds: number;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Reconciles at the same time, over all objects. */
  readonly maxConcurrency: number;
  /** Deliveries of a message before it goes to the dead-letter queue. */
  readonly maxReceives: number;
  /** Kubernetes rights beyond reading its kind, writing its status and its events. */
  readonly rbac: readonly RbacRule[];
  readonly iam: readonly IamGrant[];
  /** Programs its code runs. Default: none. */
  readonly tools?: readonly 'helm'[];
}

/** Folder in functions/, and name of the bundle. */
export const codeOf = ({ name, code = name }: Operator): string => code;

/** What an operator may do on AWS. */
export interface IamGrant {
  readonly actions: readonly string[];
  /** The DynamoDB tables, or the S3 buckets with charts, that are named at deploy time. */
  readonly on: 'tables' | 'chartBuckets';
  /**
   * Given to a second role, which the function assumes for one object at a time with a session policy that leaves only
   * what that object needs. Default false: given to the function's own role.
   */
  readonly scoped?: boolean;
}

/** `group/version`, or `version` alone for the core group. */
export const apiVersionOf = ({ group, version }: Kind): string =>
  group === '' ? version : `${group}/${version}`;
