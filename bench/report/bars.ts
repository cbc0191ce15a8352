import type { Bar } from '../part.ts';
import { number } from './format.ts';
import { bar, line, text } from './svg.ts';

export interface Panel {
  readonly top: number;
  readonly width: number;
}

const ROW = 30;
const LEFT = 140;
const RIGHT = 90;
const HEAD = 34;

export const barsHeight = (bars: readonly Bar[]): number => HEAD + ROW * bars.length;

/** Lying bars with their ends from round to round; podless stands out. */
export function barChart(title: string, bars: readonly Bar[], { top, width }: Panel): string[] {
  const most = Math.max(...bars.map(({ max }) => max));
  const xOf = (value: number): number => LEFT + (value / most) * (width - LEFT - RIGHT);
  const rows = bars.flatMap(({ name, value, min, max }, index) => {
    const y = top + HEAD + index * ROW;
    const middle = y + ROW / 2;
    return [
      text(LEFT - 10, middle + 4.5, name, { anchor: 'end' }),
      bar(name === 'podless' ? 'first' : 'third', LEFT, y + 5, xOf(value) - LEFT, ROW - 10),
      ...(max > min
        ? [
            line('whisker', xOf(min), middle, xOf(max), middle),
            line('whisker', xOf(min), middle - 4, xOf(min), middle + 4),
            line('whisker', xOf(max), middle - 4, xOf(max), middle + 4),
          ]
        : []),
      text(xOf(max) + 8, middle + 4.5, number(value)),
    ];
  });
  return [text(0, top + 16, title, { kind: 'title' }), ...rows];
}
