import type { Results } from '../results.ts';
import { barChart, barsHeight } from './bars.ts';
import { document } from './svg.ts';
import { TIMELINE_HEIGHT, timelineChart } from './timeline.ts';

const WIDTH = 860;
const GAP = 30;

/** The charts of all parts that have one, one under the other. */
export function toSvg({ parts }: Results): string {
  let top = 0;
  const drawn = parts.flatMap(({ chart }) => {
    if (!chart) return [];
    const panel = { top, width: WIDTH };
    if (chart.kind === 'bars') {
      top += barsHeight(chart.bars) + GAP;
      return barChart(chart.title, chart.bars, panel);
    }
    top += TIMELINE_HEIGHT + GAP;
    return timelineChart(chart, panel);
  });
  return document(WIDTH, top, drawn);
}
