import type { Outcome } from '../bench.ts';
import { atMost } from '../figures.ts';
import { interleave } from '../interleave.ts';
import { type ItemPlan, idealCalls } from '../items.ts';
import type { Part } from '../part.ts';
import { competitors, podless } from '../peers/list.ts';
import { number, ratio } from '../report/format.ts';
import { samplesOf, wrongFigure } from './share.ts';

export const calls: Part = {
  name: 'calls',
  about: 'calls made against the fewest that can do it',
  async run(bench) {
    const { items, rounds, peerRounds } = bench.sizes.calls;
    const outcomes = await interleave(bench, {
      settings: { items, latencyMs: 0 },
      peers: [podless, ...competitors],
      rounds: (peer) => (peer === podless ? rounds : peerRounds),
    });
    return {
      figures: [
        {
          name: 'calls made / ideal calls (ceil(N/25) + ceil(bytes/1 MB) + 3)',
          unit: 'ratio',
          goal: atMost(1.02),
          samples: samplesOf(outcomes, podless, (outcome) => callRatio(outcome, items)),
        },
        wrongFigure('calls', outcomes, items),
      ],
      tables: [
        {
          title: `Calls for ${number(items.count)} items of 1,000 bytes; ideal: ${number(idealCalls(items))}`,
          columns: ['', 'calls', 'of the ideal', 'by operation'],
          rows: [...outcomes].map(([name, all]) => {
            const outcome = all.at(-1) as Outcome;
            return [
              name,
              number(totalCalls(outcome)),
              ratio(callRatio(outcome, items)),
              Object.entries(outcome.counts.calls)
                .map(([operation, count]) => `${number(count)} ${operation}`)
                .join(', '),
            ];
          }),
          note: 'The three are DescribeTable, the query that sees the partition empty, and one to spare.',
        },
      ],
    };
  },
};

export const totalCalls = ({ counts }: Outcome): number =>
  Object.values(counts.calls).reduce((sum, one) => sum + one, 0);

export const callRatio = (outcome: Outcome, items: ItemPlan): number =>
  totalCalls(outcome) / idealCalls(items);
