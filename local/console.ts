import type { Progress } from './control-plane/index.ts';

/** Output for a person: lines, and on a terminal one line at the bottom that changes in place. */
export interface Console {
  /** A line that stays. */
  line(text: string): void;
  /** A line that the next one replaces. Nothing in a pipe, where `milestone` tells instead. */
  status(text: string): void;
  /** A line that stays, in a pipe only: for what the terminal shows in place. */
  milestone(text: string): void;
  /** Shows the progress of something that takes its time. */
  readonly progress: (progress: Progress) => void;
}

/** In a pipe, a long step reports this often. */
const PLAIN_INTERVAL_SECONDS = 15;

export function createConsole(stream: NodeJS.WriteStream): Console {
  const live = stream.isTTY && process.env['CI'] === undefined;
  let shown = false;
  let reported = { step: '', elapsedSeconds: 0 };
  const clear = () => {
    if (shown) stream.write('\r\x1b[2K');
    shown = false;
  };
  const line = (text: string) => {
    clear();
    stream.write(`${text}\n`);
  };
  const status = (text: string) => {
    if (!live) return;
    stream.write(`\r\x1b[2K${text.slice(0, (stream.columns ?? 80) - 1)}`);
    shown = true;
  };
  return {
    line,
    status,
    milestone: (text) => {
      if (!live) line(text);
    },
    progress: (progress) => {
      const { step, elapsedSeconds } = progress;
      status(`  ${describe(progress)}`);
      const isNew = step !== reported.step;
      if (live || !(isNew || elapsedSeconds - reported.elapsedSeconds >= PLAIN_INTERVAL_SECONDS))
        return;
      reported = { step, elapsedSeconds };
      line(`  ${describe(progress)}`);
    },
  };
}

function describe({ step, detail, fraction, elapsedSeconds }: Progress): string {
  const share = fraction === undefined ? '' : ` ${bar(fraction)}`;
  const time = elapsedSeconds >= 1 ? ` ${Math.round(elapsedSeconds)} s` : '';
  return `${step}${share}${detail === undefined ? '' : ` ${detail}`}${time}`;
}

/** `[##########----------]  50 %` */
export function bar(fraction: number, width = 24): string {
  const full = Math.round(Math.min(Math.max(fraction, 0), 1) * width);
  const percent = `${Math.floor(fraction * 100)}`.padStart(3);
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}] ${percent} %`;
}
