import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, type Figure, none } from '../figures.ts';
import type { Part } from '../part.ts';
import { number, ratio } from '../report/format.ts';
import { type BundleOnDisk, bundlesUnder, CLIENT_ONLY } from '../start-up/bundles.ts';
import { countConnections, timeImport } from '../start-up/import-once.ts';
import { percentile } from '../statistics.ts';

const WARM_UPS = 2;
/** Import time, of that of the client alone; and size. */
const goals: Readonly<Record<string, { readonly ratio: number; readonly bytes?: number }>> = {
  ddbctldpjob: { ratio: 1.3, bytes: 900_000 },
  watcher: { ratio: 1 },
};

interface Measured extends BundleOnDisk {
  readonly milliseconds: readonly number[];
  readonly connections: number;
}

export const startUp: Part = {
  name: 'start-up',
  about: 'import time and size of each function, against a bundle with the DynamoDB client only',
  async run(bench) {
    const folder = mkdtempSync(join(tmpdir(), 'podless-bench-'));
    try {
      const bundles = await bundlesUnder(folder);
      const measured = await measure(bundles, bench.sizes.startUpRuns, bench.signal);
      const base = percentile(
        measured.find(({ name }) => name === CLIENT_ONLY)?.milliseconds ?? [],
        0.5,
      );
      return {
        figures: measured.flatMap((one) => figuresOf(one, base)),
        tables: [
          {
            title: `Import in a fresh process, Node ${process.versions.node}, ${bench.sizes.startUpRuns} runs each, in turn`,
            columns: ['', 'import, median', 'p90', `of ${CLIENT_ONLY}`, 'size', 'connections'],
            rows: measured.map(({ name, milliseconds, bytes, connections }) => [
              name,
              `${number(percentile(milliseconds, 0.5))} ms`,
              `${number(percentile(milliseconds, 0.9))} ms`,
              `${ratio(percentile(milliseconds, 0.5) / base)} ×`,
              `${number(bytes / 1000)} KB`,
              number(connections),
            ]),
            note: 'Size: all code of the bundle, also what is loaded later; 1 KB is 1,000 bytes. A warm disk and a busy machine: read the ratios.',
          },
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function measure(
  bundles: readonly BundleOnDisk[],
  runs: number,
  signal: AbortSignal,
): Promise<readonly Measured[]> {
  const times = bundles.map((): number[] => []);
  for (let run = -WARM_UPS; run < runs; run += 1) {
    for (const [index, { file }] of bundles.entries()) {
      signal.throwIfAborted();
      const milliseconds = await timeImport(file);
      if (run >= 0) times[index]?.push(milliseconds);
    }
  }
  const connections: number[] = [];
  for (const { file } of bundles) connections.push(await countConnections(file));
  return bundles.map((one, index) => ({
    ...one,
    milliseconds: times[index] ?? [],
    connections: connections[index] ?? Number.NaN,
  }));
}

function figuresOf(
  { name, bytes, milliseconds, connections }: Measured,
  base: number,
): readonly Figure[] {
  const goal = goals[name];
  if (!goal) return [];
  return [
    {
      name: `start-up of ${name}: import time against client-dynamodb alone`,
      unit: 'ratio',
      goal: atMost(goal.ratio),
      // The median of many runs, with what its quarters say of the noise.
      samples: [0.25, 0.5, 0.75].map((share) => percentile(milliseconds, share) / base),
    },
    ...(goal.bytes === undefined
      ? []
      : [
          {
            name: `start-up of ${name}: size of the bundle`,
            unit: 'kilobytes' as const,
            goal: atMost(goal.bytes),
            samples: [bytes],
          },
        ]),
    {
      name: `start-up of ${name}: connections begun at import`,
      unit: 'count',
      goal: none,
      samples: [connections],
    },
  ];
}
