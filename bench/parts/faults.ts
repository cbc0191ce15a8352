import type { Outcome } from '../bench.ts';
import { atMost, type Figure, none } from '../figures.ts';
import type { Part, ResultTable } from '../part.ts';
import { podless } from '../peers/list.ts';
import type { Faults } from '../proxy/settings.ts';
import { number, seconds } from '../report/format.ts';

const FAULTS: Faults = { unprocessed: 0.3, serverError: 0.05, reset: 0.02, hang: 0.01 };
const SAID = '30 % unprocessed, 5 % 5xx, 2 % resets, 1 % hung';

interface Pair {
  readonly clean: Outcome;
  readonly faulty: Outcome;
}

export const faults: Part = {
  name: 'faults',
  about: `${SAID}: nothing left, exact count, time against the clean run`,
  async run(bench) {
    const { items, rounds } = bench.sizes.faults;
    const settings = { items, latencyMs: 5 };
    const peer = await bench.open(podless);
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const clean = await bench.measure(peer, { settings });
      const faulty = await bench.measure(peer, { settings: { ...settings, faults: FAULTS } });
      pairs.push({ clean, faulty });
      const [fast, slow] = [clean, faulty].map(({ result }) => seconds(result.milliseconds));
      bench.tell(`  round ${round + 1}: ${fast} clean, ${slow} with faults, ${faulty.left} left`);
    }
    await peer.close();
    return { figures: figuresOf(pairs, items.count), tables: [tableOf(pairs, items.count)] };
  },
};

function figuresOf(pairs: readonly Pair[], count: number): readonly Figure[] {
  const faulty = pairs.map((pair) => pair.faulty);
  // What must not happen must not happen in any round: the worst one speaks for all.
  const worst = (value: (outcome: Outcome) => number) => [Math.max(...faulty.map(value))];
  const must = { unit: 'count' as const, goal: none };
  return [
    { ...must, name: `${SAID}: left`, samples: worst(({ left }) => left) },
    {
      ...must,
      name: `${SAID}: count off by`,
      samples: worst(({ result }) => Math.abs((result.deleted ?? 0) - count)),
    },
    {
      ...must,
      name: `${SAID}: runs that say "at least"`,
      samples: [faulty.filter(({ result }) => result.exact !== true).length],
    },
    {
      name: `${SAID}: time against the clean run`,
      unit: 'ratio',
      goal: atMost(2),
      samples: pairs.map(
        ({ clean, faulty }) => faulty.result.milliseconds / clean.result.milliseconds,
      ),
    },
  ];
}

function tableOf(pairs: readonly Pair[], count: number): ResultTable {
  return {
    title: `${number(count)} items of 200 bytes, 5 ms added, ${SAID}; every other failed call is carried out all the same`,
    columns: [
      'round',
      'clean',
      'with faults',
      'deleted',
      'left',
      'batches',
      '5xx',
      'reset',
      'hung',
    ],
    rows: pairs.map(({ clean, faulty: { result, counts, left } }, index) => [
      String(index + 1),
      seconds(clean.result.milliseconds),
      seconds(result.milliseconds),
      `${result.exact === true ? '' : 'at least '}${number(result.deleted ?? 0)}`,
      number(left),
      number(counts.writes.requests),
      number(counts.faults.serverError),
      number(counts.faults.reset),
      number(counts.faults.hang),
    ]),
  };
}
