import type { ReconcileContext } from '../reconcile.ts';

type Times = Pick<ReconcileContext, 'clock' | 'deadline' | 'windUpMilliseconds'>;

const MAX_RENDER_MILLISECONDS = 30_000;
const RENDER_SHARE = 0.4;
/** The rest is for taking back what failed. */
const APPLY_SHARE = 0.6;
/** Of the time to wind up: the end of it is for the status. */
const RECOVERY_SHARE = 0.6;
/** Helm's own limit comes first: it then marks its release as failed. */
const HELM_LIMIT_SHARE = 0.85;

const untilWindUp = ({ clock, deadline, windUpMilliseconds }: Times): number =>
  Math.max(deadline - windUpMilliseconds - clock.now(), 0);

export const renderTime = (times: Times): number =>
  Math.min(untilWindUp(times) * RENDER_SHARE, MAX_RENDER_MILLISECONDS);

export const applyTime = (times: Times): number => untilWindUp(times) * APPLY_SHARE;

export const recoveryTime = ({ clock, deadline, windUpMilliseconds }: Times): number =>
  Math.max(deadline - windUpMilliseconds * (1 - RECOVERY_SHARE) - clock.now(), 0);

/** For helm's --timeout, which is for each of its steps. */
export const helmTimeout = (limitMilliseconds: number): string =>
  `${Math.max(Math.floor(limitMilliseconds * HELM_LIMIT_SHARE), 1)}ms`;
