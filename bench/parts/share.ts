import type { Outcome } from '../bench.ts';
import { type Figure, none } from '../figures.ts';
import type { Outcomes } from '../interleave.ts';
import type { ItemPlan } from '../items.ts';
import type { ResultTable } from '../part.ts';
import { type Peer, podless } from '../peers/list.ts';
import { number, percent, seconds, spread, trouble } from '../report/format.ts';
import { summarize } from '../statistics.ts';

/** What is told wherever a cap is used. */
export const SHARE_NOTE =
  'Share used: units deleted / (units in the bucket at first + what the cap amounts to from the first delete to the last). ' +
  'Refused: batches of which something was refused, of all batches sent.';

export const shareOf = ({ counts }: Outcome): number => counts.units.share;

export const refusedOf = ({ counts }: Outcome): number => {
  const { requests, refused, partlyRefused } = counts.writes;
  return (refused + partlyRefused) / requests;
};

export const samplesOf = (
  outcomes: Outcomes,
  { name }: Peer,
  value: (outcome: Outcome) => number,
): readonly number[] => (outcomes.get(name) ?? []).map(value);

/** Speed is worth nothing if items are left, or counted wrong, in any round. */
export function wrongFigure(part: string, outcomes: Outcomes, { count }: ItemPlan): Figure {
  const wrong = samplesOf(
    outcomes,
    podless,
    ({ left, result }) => left + Math.abs((result.deleted ?? 0) - count),
  );
  const name = `${part}: items left or miscounted`;
  return { name, unit: 'count', goal: none, samples: [Math.max(...wrong)] };
}

/** A row for each peer: how much of the cap it used, and at what price. */
export function shareTable(title: string, outcomes: Outcomes, note = SHARE_NOTE): ResultTable {
  return {
    title,
    columns: ['', 'share used', 'spread', 'refused', 'largest batch', 'took', 'left', ''],
    rows: [...outcomes].map(([name, all]) => {
      const shares = all.map(shareOf);
      const { median } = summarize(all.map(({ result }) => result.milliseconds));
      return [
        name,
        percent(summarize(shares).median),
        spread(shares, percent),
        percent(summarize(all.map(refusedOf)).median),
        `${number(Math.max(...all.map(({ counts }) => counts.units.largestRequest)))} units`,
        seconds(median),
        number(Math.max(...all.map(({ left }) => left))),
        trouble(all),
      ];
    }),
    note,
  };
}
