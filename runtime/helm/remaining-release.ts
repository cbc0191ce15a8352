import { OperatorError } from '../errors.ts';
import type { ReconcileContext } from '../reconcile.ts';
import { isOurs } from './find-release.ts';
import type { ReleaseReport, WantedRelease } from './release.ts';
import { manifestDigestIn } from './release-labels.ts';
import { readRevisions } from './stored-release.ts';

/** What is deployed although a reconcile failed. */
export type RemainingRelease = Pick<
  ReleaseReport,
  'name' | 'namespace' | 'revision' | 'manifestDigest'
>;

const remaining = new WeakMap<OperatorError, RemainingRelease | 'none'>();

/** For the status after an error. Undefined: not known, it is as it was. */
export const remainingRelease = (error: OperatorError): RemainingRelease | 'none' | undefined =>
  remaining.get(error);

/** Looks at what an error has left: a status must not tell of a release that is gone. */
export async function noteRemaining(
  error: unknown,
  { name, namespace, adopt = false, owner }: WantedRelease,
  { kube }: Pick<ReconcileContext, 'kube'>,
): Promise<void> {
  if (!(error instanceof OperatorError)) return;
  const revisions = await readRevisions({ name, namespace }, kube).catch(() => undefined);
  if (!revisions) return;
  const newest = revisions.find(
    (one) => one.status === 'deployed' && isOurs(one, { name, namespace, adopt }, owner),
  );
  remaining.set(
    error,
    newest
      ? {
          name,
          namespace,
          revision: newest.version,
          manifestDigest: manifestDigestIn(newest) ?? '',
        }
      : 'none',
  );
}
