import type { Owner } from '../children/child.ts';
import type { Readiness } from '../children/readiness.ts';
import type { PlannedChange, ReconcileContext } from '../reconcile.ts';
import type { ChartKind } from './chart-kinds.ts';

/** A chart, unpacked into a folder that nobody writes to any more. */
export interface Chart {
  /** Or how to get it: most looks at a release need only the digest. */
  readonly folder: string | (() => Promise<string>);
  /** Of every file in it: another digest is another chart. */
  readonly digest: string;
}

export interface ReleaseRef {
  readonly name: string;
  readonly namespace: string;
  /** The owner's status says that it was made for it, by an operator that did not mark its releases. Default false. */
  readonly adopt?: boolean;
}

/** What a release should be. */
export interface WantedRelease extends ReleaseRef {
  readonly chart: Chart;
  readonly values: object;
  /** What its manifest may hold. */
  readonly allowed: readonly ChartKind[];
  readonly owner: Owner;
  /** As `failedAttempts` had them from the last error, kept in the owner's status. Default: none. */
  readonly attempts?: FailedAttempts;
  /** Told before anything is applied, which may take as long as the hooks of the chart. Default: nobody is. */
  readonly onApply?: (action: 'install' | 'upgrade') => Promise<unknown>;
}

/** What did not work, so that it is not tried for ever at full pace. */
export interface FailedAttempts {
  /** Of values and chart: others are another attempt. */
  readonly digest: string;
  readonly count: number;
  readonly lastTime: string;
  readonly message: string;
}

/** A release as the cluster has it. */
export interface ReleaseReport {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  /** Of the manifest that was applied. */
  readonly manifestDigest: string;
  /** What was done in this run. */
  readonly action: 'installed' | 'upgraded' | 'repaired' | 'none';
  /** Of its workloads; `why` names the first that is not ready. */
  readonly readiness: Readiness;
  /** In a dry run: what would be done. */
  readonly plan: readonly PlannedChange[];
}

/**
 * Helm releases in a cluster. Failures are thrown as OperatorErrors with these reasons: `RenderFailed`, `InvalidValues`,
 * `InvalidName`, `ForbiddenObject` (terminal: nothing was applied), `Conflict` (somebody else's release or object),
 * `ReleaseBusy` (another run is at work on it), `ReleaseFailed` (applied, failed, and rolled back or removed; see
 * `failedAttempts`).
 */
export interface HelmReleases {
  /** Installs, upgrades where values or chart are others, recovers what a killed run left, repairs drift, or does nothing. */
  reconcile(wanted: WantedRelease, context: ReconcileContext): Promise<ReleaseReport>;
  /** Uninstalls what belongs to this owner; no error if it is gone, and never another's. */
  remove(
    release: ReleaseRef,
    owner: Owner,
    context: ReconcileContext,
  ): Promise<readonly PlannedChange[]>;
}
