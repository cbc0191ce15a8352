import type { Chart, Line } from '../part.ts';
import { TIMELINE_SECONDS } from '../proxy/settings.ts';
import type { Timetable } from '../proxy/timetable.ts';
import type { Panel } from './bars.ts';
import { number } from './format.ts';
import { type Colour, line, type Point, path, text, ticks } from './svg.ts';

type Timeline = Extract<Chart, { kind: 'timeline' }>;

export const TIMELINE_HEIGHT = 330;
const LEFT = 60;
const RIGHT = 20;
const HEAD = 62;
const FOOT = 44;
const colours: readonly Colour[] = ['first', 'second'];
/** Who takes longer runs out of the picture. */
const MAX_SECONDS = 60;

/** The cap as an area, and what each peer deleted in each second. */
export function timelineChart({ title, cap, lines }: Timeline, { top, width }: Panel): string[] {
  const series = lines.map(perSecond);
  const seconds = Math.min(MAX_SECONDS, Math.max(...series.map(({ length }) => length)));
  const most = Math.max(...series.flat(), ...cap.map(({ unitsPerSecond }) => unitsPerSecond));
  const bottom = top + TIMELINE_HEIGHT - FOOT;
  const xOf = (second: number): number => LEFT + (second / seconds) * (width - LEFT - RIGHT);
  const yOf = (units: number): number => bottom - (units / most) * (bottom - top - HEAD);
  const edge = capEdge(cap, seconds).map(([second, units]): Point => [xOf(second), yOf(units)]);
  return [
    text(0, top + 16, title, { kind: 'title' }),
    ...legend(lines, top + 42),
    ...ticks(most, 4).flatMap((units) => [
      line('grid', LEFT, yOf(units), width - RIGHT, yOf(units)),
      text(LEFT - 8, yOf(units) + 4, number(units), { anchor: 'end', kind: 'quiet' }),
    ]),
    path('area', [[xOf(0), bottom], ...edge, [xOf(seconds), bottom]], true),
    path('edge', edge),
    ...series.map((units, index) =>
      path(
        `line ${colours[index] ?? 'third'}`,
        units.slice(0, seconds).map((one, second): Point => [xOf(second + 0.5), yOf(one)]),
      ),
    ),
    line('axis', LEFT, bottom, width - RIGHT, bottom),
    ...ticks(seconds, 6).map((second) =>
      text(xOf(second), bottom + 18, String(second), { anchor: 'middle', kind: 'quiet' }),
    ),
    text((LEFT + width - RIGHT) / 2, bottom + 36, 'seconds since the first delete', {
      anchor: 'middle',
      kind: 'quiet',
    }),
  ];
}

function perSecond({ timeline }: Line): readonly number[] {
  const slots = 1 / TIMELINE_SECONDS;
  // The last second is not a whole one: it would look like a fall.
  return Array.from({ length: Math.floor(timeline.length / slots) }, (_, second) =>
    timeline.slice(second * slots, (second + 1) * slots).reduce((sum, units) => sum + units, 0),
  );
}

/** Two points for each step. */
const capEdge = (cap: Timetable, seconds: number): readonly Point[] =>
  cap
    .filter(({ fromSecond }) => fromSecond < seconds)
    .flatMap(({ fromSecond, unitsPerSecond }, index, shown): Point[] => [
      [fromSecond, unitsPerSecond],
      [shown[index + 1]?.fromSecond ?? seconds, unitsPerSecond],
    ]);

const SWATCH = 22;
const CHARACTER = 7.2;

/** One after the other, each as wide as its words. */
function legend(lines: readonly Line[], y: number): readonly string[] {
  const entries = [
    ...lines.map(({ name }, index) => ({ kind: `line ${colours[index] ?? 'third'}`, name })),
    { kind: 'edge', name: 'the cap' },
  ];
  let x = LEFT;
  return entries.flatMap(({ kind, name }) => {
    const from = x;
    x += SWATCH + 32 + name.length * CHARACTER;
    return [line(kind, from, y - 4, from + SWATCH, y - 4), text(from + SWATCH + 8, y, name)];
  });
}
