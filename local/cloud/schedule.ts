import type { Clock } from '../../runtime/clock.ts';
import { describeError, type Log } from '../../runtime/log.ts';

export interface ScheduleOptions {
  readonly clock: Clock;
  /** For the log. */
  readonly name: string;
  readonly everySeconds: number;
  /** Default 0: at once. */
  readonly firstAfterSeconds?: number;
  readonly run: () => Promise<unknown>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** As often as an asynchronous invocation is tried on Lambda, but without its minutes of waiting. */
const RETRY_AFTER_SECONDS = [1, 5];

/**
 * Runs something at fixed times, whether the run before has ended or not, and whatever became of it; a run that fails is
 * tried again twice. Resolves when `signal` aborts; runs that are under way then are not waited for.
 */
export async function runSchedule(options: ScheduleOptions): Promise<void> {
  const { clock, everySeconds, firstAfterSeconds = 0, signal } = options;
  if (!(everySeconds > 0)) {
    throw new RangeError(
      `schedule ${options.name} must run every 1 second or more, got ${everySeconds}`,
    );
  }
  let next = clock.now() + firstAfterSeconds * 1000;
  while (await sleptUntil(next, clock, signal)) {
    void runOnce(options);
    // From the planned time, so that delays do not add up; but a machine that slept does not catch up on old runs.
    next = Math.max(next + everySeconds * 1000, clock.now());
  }
}

async function sleptUntil(time: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const milliseconds = time - clock.now();
  if (milliseconds > 0) await clock.sleep(milliseconds, signal).catch(() => {});
  return !signal.aborted;
}

async function runOnce({ clock, name, run, log, signal }: ScheduleOptions): Promise<void> {
  for (const seconds of [...RETRY_AFTER_SECONDS, undefined]) {
    try {
      await run();
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.error('scheduled run failed', { schedule: name, ...describeError(error) });
    }
    if (seconds === undefined) return;
    await clock.sleep(seconds * 1000, signal).catch(() => {});
    if (signal.aborted) return;
  }
}
