import { TransientError } from '../errors.ts';
import type { HelmAnswer } from './helm-command.ts';
import type { WantedRelease } from './release.ts';
import { MAX_ROLLBACK_MILLISECONDS } from './release-labels.ts';
import type { Work } from './releases.ts';
import { removeHooks } from './remove-release.ts';
import { errorOf } from './safe-message.ts';
import { type Revision, readRevisions } from './stored-release.ts';
import { recoveryTime } from './time-budget.ts';

/**
 * Brings a release that failed, or that a killed run has left in the middle of something, back to the last revision that was
 * deployed; one that never was, is removed.
 *
 * @returns the revision that is deployed now
 */
export async function recover(wanted: WantedRelease, work: Work): Promise<Revision | undefined> {
  const { context } = work;
  // Not bound to the signal: what was begun has to be taken back in the time that is left for it.
  const revisions = await readRevisions(wanted, context.kube, { superseded: true });
  const [newest] = revisions;
  if (!newest || newest.status === 'deployed') return newest;
  const good = revisions.find(({ status }) => status === 'deployed' || status === 'superseded');
  context.log.info('release recovered', {
    release: wanted.name,
    status: newest.status,
    revision: newest.version,
    backTo: good?.version,
  });
  if (good) await rollBack(wanted, good, work);
  else await remove(wanted, newest, work);
  const [now] = await readRevisions(wanted, context.kube);
  return now;
}

/** With its hooks; if those are what does not work, without. */
async function rollBack(wanted: WantedRelease, to: Revision, work: Work): Promise<void> {
  const { actions, context } = work;
  const time = (share: number) => ({
    milliseconds: Math.min(recoveryTime(context) * share, MAX_ROLLBACK_MILLISECONDS),
  });
  const first = await actions.rollback(wanted, to.version, time(0.5));
  if (first.ended === 'ok') return;
  const second = await actions.rollback(wanted, to.version, { ...time(1), hooks: false });
  if (second.ended !== 'ok') throw recoveryError('rolled back', second, work);
}

/** Hooks of a deletion are for what once worked. */
async function remove(wanted: WantedRelease, newest: Revision, work: Work): Promise<void> {
  const { actions, context } = work;
  const limit = { milliseconds: recoveryTime(context), hooks: false };
  const answer = await actions.uninstall(wanted, limit);
  if (answer.ended !== 'ok') throw recoveryError('removed', answer, work);
  await removeHooks(newest, wanted, wanted.owner, work);
}

const recoveryError = (what: string, answer: HelmAnswer, { safe }: Work): TransientError =>
  new TransientError(
    'ReleaseFailed',
    safe(`the release could not be ${what}: ${errorOf(answer.stderr) || answer.ended}`),
  );
