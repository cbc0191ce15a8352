import { atLeast, atMost } from '../figures.ts';
import { interleave } from '../interleave.ts';
import { totalBytes } from '../items.ts';
import type { Part } from '../part.ts';
import { podless, sdkOne, toolbox } from '../peers/list.ts';
import { megabytes, number } from '../report/format.ts';
import { refusedOf, SHARE_NOTE, samplesOf, shareOf, shareTable, wrongFigure } from './share.ts';

const UNITS_PER_SECOND = 1_000;
const CAP = {
  timetable: [{ fromSecond: 0, unitsPerSecond: UNITS_PER_SECOND }],
  burstUnits: UNITS_PER_SECOND,
};

export const mixed: Part = {
  name: 'mixed',
  about: 'items of 100 B to 400 KB, capped: the largest request, and the share used',
  async run(bench) {
    const { items, rounds, peerRounds } = bench.sizes.mixed;
    const outcomes = await interleave(bench, {
      settings: { items, latencyMs: 5, cap: CAP },
      peers: [podless, sdkOne, toolbox],
      rounds: (peer) => (peer === podless ? rounds : peerRounds),
    });
    return {
      figures: [
        {
          name: 'items of 100 B to 400 KB, capped at 1,000 units/s: largest request',
          unit: 'units',
          goal: atMost(UNITS_PER_SECOND),
          samples: samplesOf(outcomes, podless, ({ counts }) => counts.units.largestRequest),
        },
        {
          name: 'items of 100 B to 400 KB, capped at 1,000 units/s: share used',
          unit: 'percent',
          goal: atLeast(0.95),
          samples: samplesOf(outcomes, podless, shareOf),
        },
        {
          name: 'items of 100 B to 400 KB, capped: batches refused or partly refused',
          unit: 'percent',
          samples: samplesOf(outcomes, podless, refusedOf),
        },
        wrongFigure('items of 100 B to 400 KB', outcomes, items),
      ],
      tables: [
        shareTable(
          `Capped at 1,000 units/s, 5 ms added, ${number(items.count)} items of 100 B to 400 KB, ${megabytes(totalBytes(items))}`,
          outcomes,
          `${SHARE_NOTE} Sizes are spread evenly over the orders of magnitude and in no order: a query for keys tells only their sum.`,
        ),
      ],
    };
  },
};
