import { atLeast } from '../figures.ts';
import { interleave } from '../interleave.ts';
import type { Chart, Part } from '../part.ts';
import { type Peer, podless, toolbox } from '../peers/list.ts';
import type { Timetable } from '../proxy/timetable.ts';
import { number } from '../report/format.ts';
import { refusedOf, samplesOf, shareOf, shareTable, wrongFigure } from './share.ts';

const TIMETABLE: Timetable = [
  { fromSecond: 0, unitsPerSecond: 1_000 },
  { fromSecond: 10, unitsPerSecond: 300 },
  { fromSecond: 20, unitsPerSecond: 1_500 },
];
const peers: readonly Peer[] = [podless, toolbox];

export const moving: Part = {
  name: 'moving',
  about: 'share used of a cap that moves from 1,000 to 300 to 1,500 units/s',
  async run(bench) {
    const { items, rounds, peerRounds } = bench.sizes.moving;
    const cap = { timetable: TIMETABLE, burstUnits: 1_000 };
    const outcomes = await interleave(bench, {
      settings: { items, latencyMs: 5, cap },
      peers,
      rounds: (peer) => (peer === podless ? rounds : peerRounds),
      timeLimitMs: 4 * items.count,
    });
    const lines = peers.flatMap(({ name }) => {
      const last = outcomes.get(name)?.at(-1);
      if (!last) return [];
      const refused = `${Math.round(refusedOf(last) * 100)} % of batches refused`;
      return [{ name: `${name} (${refused})`, timeline: last.counts.timeline }];
    });
    const chart: Chart = {
      kind: 'timeline',
      title: 'A cap that moves: write units a second, second by second',
      cap: TIMETABLE,
      lines,
    };
    return {
      figures: [
        {
          name: 'cap that moves (1,000 → 300 → 1,500 units/s): share used',
          unit: 'percent',
          goal: atLeast(0.9),
          samples: samplesOf(outcomes, podless, shareOf),
        },
        {
          name: 'cap that moves: batches refused or partly refused',
          unit: 'percent',
          samples: samplesOf(outcomes, podless, refusedOf),
        },
        wrongFigure('cap that moves', outcomes, items),
      ],
      tables: [
        shareTable(
          `A cap of 1,000, then 300, then 1,500 units/s, ten seconds each, 5 ms added, ${number(items.count)} items of 200 bytes`,
          outcomes,
        ),
      ],
      chart,
    };
  },
};
