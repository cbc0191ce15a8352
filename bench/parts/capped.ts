import { atLeast, atMost } from '../figures.ts';
import { interleave } from '../interleave.ts';
import type { Part } from '../part.ts';
import { competitors, podless } from '../peers/list.ts';
import { number } from '../report/format.ts';
import { refusedOf, samplesOf, shareOf, shareTable, wrongFigure } from './share.ts';

/** What one physical partition of DynamoDB takes, and a bucket that holds a second of it. */
const CAP = { timetable: [{ fromSecond: 0, unitsPerSecond: 1_000 }], burstUnits: 1_000 };

export const capped: Part = {
  name: 'capped',
  about: 'share of a cap of 1,000 units/s that is used, and requests refused',
  async run(bench) {
    const { items, rounds, peerRounds } = bench.sizes.capped;
    const outcomes = await interleave(bench, {
      settings: { items, latencyMs: 5, cap: CAP },
      peers: [podless, ...competitors],
      rounds: (peer) => (peer === podless ? rounds : peerRounds),
      timeLimitMs: 4 * items.count,
    });
    return {
      figures: [
        {
          name: 'capped at 1,000 units/s: share used from the first delete to the last',
          unit: 'percent',
          goal: atLeast(0.97),
          samples: samplesOf(outcomes, podless, shareOf),
        },
        {
          name: 'capped at 1,000 units/s: batches refused or partly refused',
          unit: 'percent',
          goal: atMost(0.03),
          samples: samplesOf(outcomes, podless, refusedOf),
        },
        wrongFigure('capped', outcomes, items),
      ],
      tables: [
        shareTable(
          `Capped at 1,000 units/s, 5 ms added, ${number(items.count)} items of 200 bytes`,
          outcomes,
        ),
      ],
    };
  },
};
