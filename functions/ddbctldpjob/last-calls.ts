import type { Clock } from '../../runtime/clock.ts';

export interface LastCallOptions {
  readonly clock: Clock;
  /** Aborts when nothing new may begin. */
  readonly stopped: AbortSignal;
  /** Aborts when the grace period after that is over. */
  readonly cutOff: AbortSignal;
  /** From `stopped` on, a call without an answer for so long is made once more beside it. */
  readonly repeatAfterMs: number;
}

/**
 * Makes a call that may be repeated at will. Near the end a hung socket must not cost the knowledge of what became of
 * its batch: there the call is repeated while the first one is still waited for, and the first answer of any counts.
 *
 * @param onRepeat called before each repetition
 */
export function callToTheLast<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { clock, stopped, cutOff, repeatAfterMs }: LastCallOptions,
  onRepeat: () => void,
): Promise<T> {
  const settled = new AbortController();
  const whileUnsettled = { once: true, signal: settled.signal };
  // Ends what is still under way at the cut-off, and the slower calls once one was answered.
  const over = new AbortController();
  const giveUp = () => over.abort();
  if (cutOff.aborted) giveUp();
  else cutOff.addEventListener('abort', giveUp, whileUnsettled);
  let open = 0;
  return new Promise<T>((resolve, reject) => {
    const make = () => {
      open += 1;
      call(over.signal).then(resolve, (error: unknown) => {
        open -= 1;
        if (open === 0) reject(error);
      });
    };
    const repeat = () => {
      onRepeat();
      make();
      hurry();
    };
    const hurry = () =>
      void clock.sleep(repeatAfterMs, settled.signal).then(repeat, () => {
        // Settled before it was needed.
      });
    make();
    if (stopped.aborted) hurry();
    else stopped.addEventListener('abort', hurry, whileUnsettled);
  }).finally(() => {
    settled.abort();
    giveUp();
  });
}
