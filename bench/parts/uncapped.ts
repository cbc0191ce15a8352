import type { Bench, Outcome } from '../bench.ts';
import { atLeast, type Figure } from '../figures.ts';
import { interleave, type Outcomes } from '../interleave.ts';
import type { Part, ResultTable } from '../part.ts';
import { competitors, keyReader, type Peer, podless, raw } from '../peers/list.ts';
import { number, seconds, spread, trouble } from '../report/format.ts';
import type { Amount } from '../sizes.ts';
import { summarize } from '../statistics.ts';
import { wrongFigure } from './share.ts';

const NEAR_MS = 5;
const FAR_MS = 25;
const peers = [podless, raw, ...competitors];

export const uncapped: Part = {
  name: 'uncapped',
  about: 'items a second without a cap, against the raw writer and the peers; 5 and 25 ms added',
  async run(bench) {
    const near = await contest(bench, bench.sizes.uncapped, NEAR_MS);
    const limit = await readingLimit(bench, near);
    const far = await contest(bench, bench.sizes.uncappedFar, FAR_MS);
    const bars = peers.flatMap(({ name }) => {
      const rates = ratesOf(near, name);
      if (rates.length === 0) return [];
      const { median, min, max } = summarize(rates);
      return [{ name, value: median, min, max }];
    });
    return {
      figures: [...figures(near), wrongFigure('no cap', near, bench.sizes.uncapped.items)],
      tables: [
        { ...table(near, bench.sizes.uncapped, NEAR_MS), note: limit },
        table(far, bench.sizes.uncappedFar, FAR_MS),
      ],
      chart: { kind: 'bars', title: 'No cap, 5 ms added to each call: items a second', bars },
    };
  },
};

/** What the first figure can be at most where the server is the limit, in words. */
async function readingLimit(bench: Bench, outcomes: Outcomes): Promise<string> {
  const { items, rounds } = bench.sizes.uncapped;
  const reader = await bench.open(keyReader);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const run = { settings: { items, latencyMs: NEAR_MS } };
    times.push((await bench.measure(reader, run)).result.milliseconds);
  }
  await reader.close();
  const reading = summarize(times).median;
  const writing = summarize(
    (outcomes.get(raw.name) ?? []).map(({ result }) => result.milliseconds),
  ).median;
  const most = (writing / (writing + reading)).toFixed(2);
  return `Reading the ${number(items.count)} keys and nothing else takes ${seconds(reading)}, the raw writer, which reads nothing, ${seconds(writing)}. Where the server is the limit, and reads and writes come out of the same cores, whoever has to read first reaches at most ${most} × of the raw writer.`;
}

const contest = (bench: Bench, { items, rounds, peerRounds }: Amount, latencyMs: number) =>
  interleave(bench, {
    settings: { items, latencyMs },
    peers,
    rounds: (peer: Peer) => (peer === podless || peer === raw ? rounds : peerRounds),
  });

function figures(outcomes: Outcomes): readonly Figure[] {
  const own = ratesOf(outcomes, podless.name);
  const against = (rates: readonly number[]) =>
    own.flatMap((rate, round) => (rates[round] === undefined ? [] : [rate / rates[round]]));
  const best = competitors
    .filter(({ deletesPartitions }) => deletesPartitions)
    .map(({ name }) => ratesOf(outcomes, name))
    .filter((rates) => rates.length > 0)
    .toSorted((a, b) => summarize(b).median - summarize(a).median)[0];
  return [
    {
      name: 'no cap, 5 ms: items/s against the raw writer with as many batches in flight',
      unit: 'ratio',
      goal: atLeast(0.9),
      samples: against(ratesOf(outcomes, raw.name)),
    },
    ...(best
      ? [
          {
            name: 'no cap, 5 ms: items/s against the best peer that deletes a whole partition',
            unit: 'ratio' as const,
            goal: atLeast(2.5),
            samples: against(best),
          },
        ]
      : []),
  ];
}

/** Items a second of the rounds that deleted everything. */
const ratesOf = (outcomes: Outcomes, name: Peer['name']): readonly number[] =>
  (outcomes.get(name) ?? []).filter(({ left }) => left === 0).map(rateOf);

const rateOf = ({ result, counts }: Outcome): number =>
  (counts.units.deleted / result.milliseconds) * 1000;

function table(outcomes: Outcomes, { items }: Amount, latencyMs: number): ResultTable {
  return {
    title: `No cap, ${latencyMs} ms added to each call, ${number(items.count)} items of 200 bytes`,
    columns: ['', 'items/s', 'spread', 'rounds', 'batches in flight', 'calls', 'left', ''],
    rows: [...outcomes].map(([name, all]) => {
      const rates = all.map(rateOf);
      const { counts, left } = all.at(-1) as Outcome;
      const calls = Object.values(counts.calls).reduce((sum, one) => sum + one, 0);
      return [
        name,
        number(summarize(rates).median),
        spread(rates, number),
        String(all.length),
        String(counts.writes.peakInFlight),
        number(calls),
        number(left),
        trouble(all),
      ];
    }),
  };
}
