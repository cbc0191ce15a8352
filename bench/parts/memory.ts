import type { Bench } from '../bench.ts';
import { atMost } from '../figures.ts';
import type { Part } from '../part.ts';
import { podlessOnLambda } from '../peers/list.ts';
import { megabytes, number, spread } from '../report/format.ts';
import type { Amount } from '../sizes.ts';
import { summarize } from '../statistics.ts';

const MAX_GROWTH = 32 * 1024 ** 2;

export const memory: Part = {
  name: 'memory',
  about: 'memory at many items against few',
  async run(bench) {
    const { small, large } = bench.sizes.memory;
    const few = await peaks(bench, small);
    const many = await peaks(bench, large);
    const row = ({ items }: Amount, samples: readonly number[]) => [
      number(items.count),
      megabytes(summarize(samples).median),
      spread(samples, megabytes),
    ];
    const counts = [large, small].map(({ items }) => number(items.count));
    return {
      figures: [
        {
          name: `memory: peak RSS at ${counts[0]} items minus at ${counts[1]}`,
          unit: 'megabytes',
          goal: atMost(MAX_GROWTH),
          samples: few.flatMap((one) => many.map((other) => other - one)),
        },
      ],
      tables: [
        {
          title: 'Peak resident memory of a fresh podless process, items of 200 bytes',
          columns: ['items', 'peak RSS', 'spread'],
          rows: [row(small, few), row(large, many)],
          note: 'With the limits of the heap that Node has on Lambda for a function of this size.',
        },
      ],
    };
  },
};

/** Each in a process of its own: memory once taken is not always given back. */
async function peaks(bench: Bench, { items, rounds }: Amount): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const peer = await bench.open(podlessOnLambda);
    const { result } = await bench.measure(peer, { settings: { items, latencyMs: 0 } });
    await peer.close();
    const { peakRss = Number.NaN } = result;
    samples.push(peakRss);
    bench.tell(`  ${number(items.count)} items, round ${round + 1}: ${megabytes(peakRss)}`);
  }
  return samples;
}
