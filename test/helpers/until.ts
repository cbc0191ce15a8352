import { systemClock } from '../../runtime/clock.ts';

export interface UntilOptions {
  readonly seconds: number;
  /** For the message: what was waited for, and how it is. */
  readonly what: () => Promise<string>;
}

/** Asks again and again until there is an answer. */
export async function until<T>(
  ask: () => Promise<T | undefined>,
  options: UntilOptions,
): Promise<T> {
  const giveUpAt = systemClock.now() + options.seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (systemClock.now() > giveUpAt)
      throw new Error(`waited ${options.seconds} s for ${await options.what()}`);
    await systemClock.sleep(50);
  }
}
