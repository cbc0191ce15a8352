import { requestedReconcile } from '../annotations.ts';
import { toTimestamp } from '../clock.ts';
import { TerminalError, TransientError } from '../errors.ts';
import type { ReconcileContext } from '../reconcile.ts';
import type { FailedAttempts, WantedRelease } from './release.ts';

/** Seconds after the first failure, the second, and every later one. */
const WAITS = [8, 16, 1_800] as const;
const LAST_WAIT = 1_800;

const REASON = 'ReleaseFailed';

/** It failed and will be tried again soon. */
class FailedReleaseError extends TransientError {
  readonly attempts: FailedAttempts;

  constructor(attempts: FailedAttempts) {
    super(REASON, `${attempts.message}; tried again soon`);
    this.attempts = attempts;
  }
}

/** It failed so often that only something new, or a long time, gives reason to try again. */
class GivenUpReleaseError extends TerminalError {
  readonly attempts: FailedAttempts;

  constructor(attempts: FailedAttempts) {
    const next = toTimestamp(nextTryAt(attempts));
    super(
      REASON,
      `${attempts.message}; tried ${attempts.count} times, the next try is when the spec or the chart changes, on the annotation podless.dev/reconcile-requested-at, or after ${next}`,
    );
    this.attempts = attempts;
  }
}

const errorFor = (attempts: FailedAttempts): Error =>
  attempts.count < WAITS.length
    ? new FailedReleaseError(attempts)
    : new GivenUpReleaseError(attempts);

const nextTryAt = ({ lastTime, count }: FailedAttempts): number =>
  Date.parse(lastTime) + (WAITS[count - 1] ?? LAST_WAIT) * 1000;

/** The attempts that an error tells of, for the status of the owner. Undefined: it is not about an attempt that failed. */
export const failedAttempts = (error: unknown): FailedAttempts | undefined =>
  error instanceof FailedReleaseError || error instanceof GivenUpReleaseError
    ? error.attempts
    : undefined;

/** The error after one more attempt has failed. */
export function releaseFailed(
  message: string,
  digest: string,
  { attempts }: WantedRelease,
  { clock }: ReconcileContext,
): Error {
  const before = attempts?.digest === digest ? attempts.count : 0;
  return errorFor({ digest, count: before + 1, lastTime: toTimestamp(clock.now()), message });
}

/** What is still known of the last failure, if it is too early to try the same again. */
export function stillFailed(
  digest: string,
  { attempts, owner }: WantedRelease,
  { clock }: ReconcileContext,
): Error | undefined {
  if (attempts?.digest !== digest || clock.now() >= nextTryAt(attempts)) return undefined;
  const { metadata, status } = owner.object;
  const asked = requestedReconcile(metadata);
  if (asked !== undefined && asked !== status?.lastHandledReconcileAt) return undefined;
  return errorFor(attempts);
}
