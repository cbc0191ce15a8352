import type { Bench, Run } from '../bench.ts';
import { atLeast, type Figure, type Goal, none } from '../figures.ts';
import type { ItemPlan } from '../items.ts';
import type { Part, ResultTable } from '../part.ts';
import type { JobResult } from '../peers/job.ts';
import { podless } from '../peers/list.ts';
import { number, seconds } from '../report/format.ts';
import { type BenchTable, NEIGHBOUR_TOTAL } from '../table.ts';

const LATENCY_MS = 5;
const PROBE: ItemPlan = { count: 5_000, bytes: 200 };
/**
 * Runs that the work is cut into, by what a probe says of this machine's speed: more than are asked for, because a long run
 * is up to twice as fast as a short one.
 */
const RUNS = 8;
const MAX_RUNS = 50;

export const deadlines: Part = {
  name: 'deadlines',
  about: 'one partition over several deadlines: exact count, nothing left, no neighbour touched',
  async run(bench) {
    const { items } = bench.sizes.deadlines;
    const deadlineMs = (await millisecondsPerItem(bench)) * (items.count / RUNS);
    const run = { settings: { items, latencyMs: LATENCY_MS }, deadlineMs };
    return bench.withTable(items, async (table) => {
      const results = await runUntilFinished(bench, table, run);
      const left = await table.countTarget();
      const touched = NEIGHBOUR_TOTAL - (await table.countNeighbours());
      return {
        figures: figuresOf(results, { count: items.count, left, touched }),
        tables: [tableOf(results, items.count, deadlineMs)],
      };
    });
  },
};

async function runUntilFinished(
  bench: Bench,
  table: BenchTable,
  run: Run,
): Promise<readonly JobResult[]> {
  const results: JobResult[] = [];
  while (results.length < MAX_RUNS) {
    const result = await oneRun(bench, table, { ...run, continued: results.length > 0 });
    results.push(result);
    const { deleted = 0, finished, failure } = result;
    bench.tell(`  run ${results.length}: ${failure ?? `${number(deleted)} items`}`);
    // One that gets nowhere is not the last to do so.
    if (finished === true || deleted === 0) break;
  }
  return results;
}

interface Afterwards {
  readonly count: number;
  readonly left: number;
  readonly touched: number;
}

function figuresOf(
  results: readonly JobResult[],
  { count, left, touched }: Afterwards,
): readonly Figure[] {
  const of = `${number(count)} items over deadlines`;
  const deleted = results.reduce((sum, result) => sum + (result.deleted ?? 0), 0);
  const inexact = results.filter(({ exact }) => exact !== true).length;
  return [
    figure(`${of}: deadlines met on the way`, [results.length - 1], atLeast(3)),
    figure(`${of}: count off by`, [Math.abs(deleted - count)], none),
    figure(`${of}: runs that say "at least"`, [inexact], none),
    figure(`${of}: left`, [left], none),
    figure(`${of}: neighbours touched`, [touched], none),
  ];
}

const tableOf = (
  results: readonly JobResult[],
  count: number,
  deadlineMs: number,
): ResultTable => ({
  title: `${number(count)} items of 200 bytes, stopped every ${seconds(deadlineMs)}, a fresh process each time`,
  columns: ['run', 'deleted', 'exact', 'took', 'finished'],
  rows: results.map((result, index) => [
    String(index + 1),
    number(result.deleted ?? 0),
    result.exact === true ? 'yes' : 'at least',
    seconds(result.milliseconds),
    result.finished === true ? 'yes' : (result.failure ?? 'no'),
  ]),
});

const figure = (name: string, samples: readonly number[], goal: Goal): Figure => ({
  name,
  unit: 'count',
  goal,
  samples,
});

/** In a process of its own, as the next Lambda would be. */
async function oneRun(bench: Bench, table: BenchTable, run: Run): Promise<JobResult> {
  const peer = await bench.open(podless);
  const { result } = await bench.runOn(table, peer, run);
  await peer.close();
  return result;
}

async function millisecondsPerItem(bench: Bench): Promise<number> {
  const peer = await bench.open(podless);
  const settings = { items: PROBE, latencyMs: LATENCY_MS };
  const { result } = await bench.measure(peer, { settings });
  await peer.close();
  return result.milliseconds / PROBE.count;
}
