import { interleave } from '../interleave.ts';
import type { Part } from '../part.ts';
import { podless, sdkOne } from '../peers/list.ts';
import { number } from '../report/format.ts';
import { SHARE_NOTE, samplesOf, shareOf, shareTable, wrongFigure } from './share.ts';

const PARTITIONS = 4;
const UNITS_PER_SECOND = 500;

export const ranges: Part = {
  name: 'ranges',
  about: 'one key over four physical partitions, each with a cap of its own: share of all used',
  async run(bench) {
    const { items, rounds, peerRounds } = bench.sizes.ranges;
    const cap = {
      timetable: [{ fromSecond: 0, unitsPerSecond: UNITS_PER_SECOND }],
      burstUnits: UNITS_PER_SECOND,
      partitions: PARTITIONS,
    };
    const outcomes = await interleave(bench, {
      settings: { items, latencyMs: 5, cap },
      peers: [podless, sdkOne],
      rounds: (peer) => (peer === podless ? rounds : peerRounds),
      timeLimitMs: 10 * items.count,
    });
    return {
      figures: [
        {
          name: 'one key over 4 physical partitions of 500 units/s each: share of all used',
          unit: 'percent',
          samples: samplesOf(outcomes, podless, shareOf),
        },
        wrongFigure('4 physical partitions', outcomes, items),
      ],
      tables: [
        shareTable(
          `Four physical partitions of ${UNITS_PER_SECOND} units/s each, by ranges of the sort key, 5 ms added, ${number(items.count)} items of 1,000 bytes`,
          outcomes,
          `${SHARE_NOTE} Who reads from the first key to the last uses one partition at a time: a quarter.`,
        ),
      ],
    };
  },
};
