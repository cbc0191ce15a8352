/** One update on something that takes its time; the newest replaces those before it. */
export interface Progress {
  /** What is being done, constant over the step: `building kube-apiserver`. */
  readonly step: string;
  /** What changes while it goes on: `412 of 2141 packages`. */
  readonly detail?: string;
  /** Between 0 and 1, where the amount of work is known. An estimate: it may jump forward. */
  readonly fraction?: number;
  /** Since the step began. */
  readonly elapsedSeconds: number;
}

export type Report = (progress: Progress) => void;

export type StepReport = (detail?: string, fraction?: number) => void;

/** Reports the beginning of a step and returns the function for its later updates. */
export function beginStep(report: Report | undefined, step: string): StepReport {
  const startedAt = performance.now();
  const update: StepReport = (detail, fraction) =>
    report?.({
      step,
      ...(detail === undefined ? {} : { detail }),
      ...(fraction === undefined ? {} : { fraction: Math.min(1, fraction) }),
      elapsedSeconds: Math.round((performance.now() - startedAt) / 100) / 10,
    });
  update();
  return update;
}
