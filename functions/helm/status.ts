import { conflictConditions } from '../../runtime/children/conditions.ts';
import { type OperatorError, TerminalError } from '../../runtime/errors.ts';
import { failedAttempts } from '../../runtime/helm/failed-release.ts';
import type { FailedAttempts, ReleaseReport } from '../../runtime/helm/release.ts';
import { remainingRelease } from '../../runtime/helm/remaining-release.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { ownStatus } from '../../runtime/kube/own-status.ts';
import type {
  ConditionState,
  Failure,
  FailureDescription,
  Result,
} from '../../runtime/reconcile.ts';

/** What helm operators show, and what we need to go on from. */
export interface ReleaseStatus {
  readonly deployedRelease?: {
    readonly name: string;
    /** Digest of what was applied. */
    readonly manifest: string;
    readonly revision?: number;
  };
  /** Of the values and chart that do not work. */
  readonly failedAttempts?: FailedAttempts;
}

/** The kind's own part of an object's status. */
export const statusOf = ({ status = {} }: KubeObject): ReleaseStatus => ownStatus(status);

const condition = (
  type: string,
  status: ConditionState['status'],
  reason: string,
  message: string,
): ConditionState => ({ type, status, reason, message });

const initialized = condition('Initialized', 'True', 'Initialized', 'the object was taken up');
const noFailure = condition('ReleaseFailed', 'False', 'NoFailure', 'the last try went well');
const noTrouble = condition('Irreconcilable', 'False', 'Reconciled', 'the last look went well');

const deployedCondition = ({
  name,
  revision = 1,
}: Pick<NonNullable<ReleaseStatus['deployedRelease']>, 'name' | 'revision'>): ConditionState =>
  condition(
    'Deployed',
    'True',
    revision > 1 ? 'UpgradeSuccessful' : 'InstallSuccessful',
    `release ${name} is deployed`,
  );

/** Status and conditions of a release that is deployed. */
export function deployed(report: ReleaseReport): Result {
  const { name, manifestDigest: manifest, revision, readiness, plan } = report;
  const ready = readiness.ready
    ? condition('Ready', 'True', 'Ready', 'the release is deployed and its workloads are ready')
    : condition('Ready', 'False', readiness.failed ? 'Failed' : 'Progressing', readiness.why);
  return {
    status: { deployedRelease: { name, manifest, revision } },
    conditions: [initialized, deployedCondition({ name, revision }), noFailure, noTrouble, ready],
    plan,
  };
}

/** While Helm is at work, which may take minutes. */
export function applying(
  action: 'install' | 'upgrade',
  object: KubeObject,
): Pick<Result, 'status' | 'conditions'> {
  const { name } = object.metadata;
  const { deployedRelease } = statusOf(object);
  const [reason, message] =
    action === 'install'
      ? (['Installing', `installing release ${name}`] as const)
      : (['Upgrading', `upgrading release ${name}`] as const);
  const told = ['Initialized', 'Deployed', 'Ready'];
  const others = (object.status?.conditions ?? []).filter(({ type }) => !told.includes(type));
  return {
    status: statusOf(object),
    conditions: [
      initialized,
      deployedRelease
        ? deployedCondition(deployedRelease)
        : condition('Deployed', 'False', reason, message),
      condition('Ready', 'False', reason, message),
      ...others,
    ],
  };
}

/** What is still deployed stays in status: an upgrade that failed was rolled back. */
export function describeFailure(failure: Failure): FailureDescription {
  const { object, error } = failure;
  const before = statusOf(object);
  const attempts =
    failedAttempts(error) ?? (error instanceof TerminalError ? undefined : before.failedAttempts);
  const remaining = remainingOf(error, before);
  const failed = error.reason === 'ReleaseFailed';
  return {
    status: {
      ...(remaining && { deployedRelease: remaining }),
      ...(attempts && { failedAttempts: attempts }),
    },
    conditions: [
      initialized,
      remaining
        ? deployedCondition(remaining)
        : condition('Deployed', 'False', error.reason, 'nothing is deployed'),
      failed ? condition('ReleaseFailed', 'True', error.reason, error.message) : noFailure,
      failed ? noTrouble : condition('Irreconcilable', 'True', error.reason, error.message),
      ...conflictConditions(failure),
    ],
  };
}

function remainingOf(
  error: OperatorError,
  { deployedRelease }: ReleaseStatus,
): ReleaseStatus['deployedRelease'] {
  const remaining = remainingRelease(error);
  if (remaining === undefined) return deployedRelease;
  if (remaining === 'none') return undefined;
  const { name, revision, manifestDigest } = remaining;
  return { name, manifest: manifestDigest, revision };
}

/** An older helm operator made the release for this object: it wrote this status, and nothing that is only ours. */
export function isFromOlderOperator(object: KubeObject, name: string): boolean {
  const { deployedRelease } = statusOf(object);
  return deployedRelease?.name === name && object.status?.observedGeneration === undefined;
}
