import type { VirtualClock } from './cloud-clock.ts';

const STEP_MS = 250;
const MAX_VIRTUAL_MS = 3_600_000;

/** Lets virtual time pass until `work` has ended; fails if that takes more than an hour of it. */
export async function drive<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  const giveUpAt = clock.now() + MAX_VIRTUAL_MS;
  while (!ended) {
    if (clock.now() > giveUpAt)
      throw new Error('the work did not end within an hour of virtual time');
    await clock.advance(STEP_MS);
  }
  return work;
}
