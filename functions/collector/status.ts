import { conflictConditions } from '../../runtime/children/conditions.ts';
import { CONDITION_READY } from '../../runtime/conditions.ts';
import { TerminalError } from '../../runtime/errors.ts';
import { failedAttempts } from '../../runtime/helm/failed-release.ts';
import type { ReleaseRef, ReleaseReport } from '../../runtime/helm/release.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { ownStatus } from '../../runtime/kube/own-status.ts';
import type {
  ConditionState,
  Failure,
  FailureDescription,
  Result,
} from '../../runtime/reconcile.ts';
import type { ChartVersion } from './chart-source.ts';
import type { ChartLocation } from './chart-store.ts';
import type { Collector } from './generated/collector.ts';

export type CollectorStatus = Omit<
  NonNullable<Collector['status']>,
  'conditions' | 'observedGeneration' | 'lastHandledReconcileAt'
>;

const CONDITION_AVAILABLE = 'Available';

/** The kind's own part of an object's status. */
export const statusOf = ({ status = {} }: KubeObject): CollectorStatus => ownStatus(status);

/** What was installed from there, if anything was. */
export function installedFrom(
  { bucket, key }: ChartLocation,
  object: KubeObject,
): ChartVersion | undefined {
  const { chart } = statusOf(object);
  return chart?.bucket === bucket && chart.key === key ? chart : undefined;
}

/** Every release that may exist because of the object. */
export const knownReleases = (object: KubeObject): readonly ReleaseRef[] =>
  statusOf(object).releases ?? [];

export const isSameRelease = (one: ReleaseRef, other: ReleaseRef): boolean =>
  one.name === other.name && one.namespace === other.namespace;

export const isKnown = (release: ReleaseRef, object: KubeObject): boolean =>
  knownReleases(object).some((one) => isSameRelease(one, release));

/** Those in the places of before. */
export const otherReleases = (release: ReleaseRef, object: KubeObject): readonly ReleaseRef[] =>
  knownReleases(object).filter((one) => !isSameRelease(one, release));

/** As it is: the runtime will find nothing to write. */
export const unchanged = (object: KubeObject): Pick<Result, 'status' | 'conditions'> => ({
  status: statusOf(object),
  conditions: object.status?.conditions ?? [],
});

/** Before a release is installed where there was none: whatever happens from here on, it will be found again. */
export function intending(
  object: KubeObject,
  wanted: ReleaseRef,
): Pick<Result, 'status' | 'conditions'> {
  const known = knownReleases(object);
  const moving = known.length > 0;
  const { name, namespace } = wanted;
  return {
    status: { ...statusOf(object), releases: [...known, { name, namespace }] },
    conditions: available(
      'False',
      moving ? 'Moving' : 'Installing',
      `${moving ? 'moving to' : 'installing'} release ${nameOf(wanted)}`,
    ),
  };
}

/** Status and conditions of a release that is deployed. */
export function deployed(
  report: ReleaseReport,
  { bucket, key }: ChartLocation,
  { etag, digest }: ChartVersion,
): Pick<Result, 'status' | 'conditions'> {
  const { name, namespace, revision, manifestDigest, readiness } = report;
  return {
    status: {
      release: { name, namespace, revision, manifestDigest },
      chart: { bucket, key, etag, digest },
      releases: [{ name, namespace }],
    } satisfies CollectorStatus,
    conditions: readiness.ready
      ? available('True', 'Deployed', `release ${nameOf(report)} is deployed and ready`)
      : available('False', readiness.failed ? 'WorkloadFailed' : 'WorkloadNotReady', readiness.why),
  };
}

/** What is known of releases stays: they are still there. */
export function describeFailure(failure: Failure): FailureDescription {
  const { object, error } = failure;
  const { failedAttempts: known, ...status } = statusOf(object);
  const attempts = failedAttempts(error) ?? (error instanceof TerminalError ? undefined : known);
  const states = available('False', error.reason, error.message);
  return {
    status: { ...status, ...(attempts && { failedAttempts: attempts }) },
    conditions: [...states.filter(isOurs), ...conflictConditions(failure)],
  };
}

/** Available, and Ready, which says the same to those who know nothing of this kind. */
const available = (
  status: ConditionState['status'],
  reason: string,
  message: string,
): readonly ConditionState[] =>
  [CONDITION_AVAILABLE, CONDITION_READY].map((type) => ({ type, status, reason, message }));

/** Ready is the runtime's after a failure. */
const isOurs = ({ type }: ConditionState): boolean => type !== CONDITION_READY;

/** As people write it. */
export const nameOf = ({ name, namespace }: ReleaseRef): string => `${namespace}/${name}`;
