import type { Clock } from '../../runtime/clock.ts';

export interface HedgeOptions {
  readonly clock: Clock;
  /** Aborts when nothing new may begin: then there is little time left to learn what became of a call. */
  readonly stopped: AbortSignal;
  /** Aborts when no answer is waited for any more. */
  readonly cutOff: AbortSignal;
  /** How long a call may be without an answer, from `stopped` on, before it is made once more beside it. */
  readonly lastMs: number;
}

/** Makes a call that may be repeated at will; `onRepeat` is called before each repetition. */
export type Hedge = <T>(
  call: (signal: AbortSignal) => Promise<T>,
  onRepeat?: () => void,
) => Promise<T>;

const SLOWEST_MS = 2_000;
const FASTEST_MS = 350;
const TYPICAL_TIMES = 10;
/** Weight of the newest answer in what is typical. */
const NEWEST = 0.1;
/** More would never end where nothing answers. */
const MOST_CALLS = 4;

/** Made once: an abort without a reason would make an exception with a stack each time, two a call. */
const answered = new DOMException('no longer waited for', 'AbortError');

/**
 * A hung socket must not hold up its batch until it times out: a call that takes ten times as long as others do is made
 * once more while the first is still waited for, and the first answer of any counts.
 */
export function createHedge({ clock, stopped, cutOff, lastMs }: HedgeOptions): Hedge {
  let typicalMs = SLOWEST_MS / TYPICAL_TIMES;
  const patienceMs = () => {
    const usual = Math.min(SLOWEST_MS, Math.max(FASTEST_MS, typicalMs * TYPICAL_TIMES));
    return stopped.aborted ? Math.min(usual, lastMs) : usual;
  };

  return <T>(call: (signal: AbortSignal) => Promise<T>, onRepeat = () => {}): Promise<T> => {
    const settled = new AbortController();
    // Ends what is still under way at the cut-off, and the slower calls once one was answered.
    const over = new AbortController();
    const giveUp = () => over.abort(answered);
    if (cutOff.aborted) giveUp();
    else cutOff.addEventListener('abort', giveUp, { once: true, signal: settled.signal });
    const begun = clock.now();
    let made = 0;
    let open = 0;
    let round = 0;
    return new Promise<T>((resolve, reject) => {
      const make = () => {
        made += 1;
        open += 1;
        call(over.signal).then(
          (answer) => {
            typicalMs += NEWEST * (clock.now() - begun - typicalMs);
            resolve(answer);
          },
          (error: unknown) => {
            open -= 1;
            if (open === 0) reject(error);
          },
        );
      };
      const repeatAfter = async (milliseconds: number) => {
        round += 1;
        const mine = round;
        await clock.sleep(milliseconds, settled.signal);
        if (mine !== round || made === MOST_CALLS) return;
        onRepeat();
        make();
        await repeatAfter(patienceMs());
      };
      const watch = (milliseconds: number) =>
        void repeatAfter(milliseconds).catch(() => {
          // Settled: no need to repeat.
        });
      make();
      watch(patienceMs());
      const hurry = () => watch(patienceMs());
      stopped.addEventListener('abort', hurry, { once: true, signal: settled.signal });
    }).finally(() => {
      settled.abort(answered);
      giveUp();
    });
  };
}
