/** A rate that changes with time, in write units a second; the last step holds for ever. */
export interface RateStep {
  /** Since the first write; the first step begins at 0. */
  readonly fromSecond: number;
  readonly unitsPerSecond: number;
}

export type Timetable = readonly RateStep[];

/** What the rate amounts to between two moments, in seconds since the first write. */
export function unitsBetween(timetable: Timetable, from: number, to: number): number {
  return timetable.reduce((sum, { fromSecond, unitsPerSecond }, index) => {
    const end = timetable[index + 1]?.fromSecond ?? Infinity;
    const seconds = Math.min(to, end) - Math.max(from, fromSecond);
    return seconds > 0 ? sum + seconds * unitsPerSecond : sum;
  }, 0);
}
