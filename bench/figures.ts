import { summarize } from './statistics.ts';

export interface Goal {
  readonly relation: 'at least' | 'at most';
  readonly value: number;
}

export type Unit = 'ratio' | 'percent' | 'count' | 'units' | 'megabytes' | 'kilobytes';

/** One thing that the bench measures. */
export interface Figure {
  readonly name: string;
  readonly unit: Unit;
  /** Default: only reported. */
  readonly goal?: Goal;
  /** One for each round. */
  readonly samples: readonly number[];
}

/**
 * `withinNoise`: the median misses the goal, but a round reached it. That is the noise of this machine, as it was while the
 * bench ran; a figure that no round reached is missed.
 */
export type Verdict = 'reached' | 'withinNoise' | 'missed' | 'reported';

export function verdictOn({ goal, samples }: Figure): Verdict {
  if (!goal) return 'reported';
  const { median, min, max } = summarize(samples);
  if (reaches(goal, median)) return 'reached';
  return reaches(goal, goal.relation === 'at least' ? max : min) ? 'withinNoise' : 'missed';
}

const reaches = ({ relation, value }: Goal, got: number): boolean =>
  relation === 'at least' ? got >= value : got <= value;

export const atLeast = (value: number): Goal => ({ relation: 'at least', value });
export const atMost = (value: number): Goal => ({ relation: 'at most', value });
/** Of what must not happen at all. */
export const none: Goal = atMost(0);
