import { digestOf, type Owner } from '../children/child.ts';
import type { WantedRelease } from './release.ts';
import type { Revision } from './stored-release.ts';

/** On the Secret of each revision: of all that the release was made from. */
const LABEL_DIGEST = 'podless.dev/digest';
/** Of its objects: an upgrade by hand takes over all labels, but not this manifest. */
const LABEL_MANIFEST = 'podless.dev/manifest';
/** The object it was made for. */
const LABEL_OWNER = 'podless.dev/owner';
/** When the run that makes it is surely over, in seconds since the epoch. */
const LABEL_UNTIL = 'podless.dev/until';

/** Another one makes every release be upgraded once, as after a change of the chart. */
const FORMAT = 1;

/** Values and chart, and the owner's uid: objects that refer to an owner of before would be collected as garbage. */
export const wantedDigest = ({ chart, values, owner }: WantedRelease): string =>
  digestOf({
    format: FORMAT,
    chart: chart.digest,
    values,
    owner: owner.object.metadata.uid,
    operator: owner.operator,
  });

/** Without the uid: an object that was deleted by force and made again has its release back. */
function ownerDigest({ object }: Owner): string {
  const { apiVersion, kind, metadata } = object;
  const [group] = apiVersion.split('/');
  return digestOf([group, kind, metadata.namespace, metadata.name]);
}

export interface ReleaseMarks {
  readonly digest: string;
  readonly manifest: string;
  readonly owner: Owner;
  /** In milliseconds since the epoch. */
  readonly until: number;
}

/** As Helm takes them in an argument. */
export const labelsFor = ({ digest, manifest, owner, until }: ReleaseMarks): string =>
  [
    `${LABEL_DIGEST}=${digest}`,
    `${LABEL_MANIFEST}=${manifest}`,
    `${LABEL_OWNER}=${ownerDigest(owner)}`,
    `${LABEL_UNTIL}=${Math.ceil(until / 1000)}`,
  ].join(',');

export const digestIn = ({ labels }: Revision): string | undefined => labels[LABEL_DIGEST];

export const manifestDigestIn = ({ labels }: Revision): string | undefined =>
  labels[LABEL_MANIFEST];

export const isOwnedBy = (owner: Owner, { labels }: Revision): boolean =>
  labels[LABEL_OWNER] === ownerDigest(owner);

/** Made by hand, or by another operator. */
export const isUnmarked = ({ labels }: Revision): boolean => labels[LABEL_OWNER] === undefined;

/** In milliseconds since the epoch. A rollback has the label of the revision that it goes back to. */
export function busyUntil({ labels, createdAt, status }: Revision): number {
  if (status === 'pending-rollback') return createdAt + MAX_ROLLBACK_MILLISECONDS;
  const seconds = Number(labels[LABEL_UNTIL] ?? 0);
  return Number.isFinite(seconds) ? seconds * 1000 : 0;
}

export const MAX_ROLLBACK_MILLISECONDS = 60_000;
