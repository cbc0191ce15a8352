import type { Console } from '../local/console.ts';
import type { DynamoDbServer } from '../local/dynamodb/server.ts';
import { type Engine, startEngine } from './engine.ts';
import type { ItemPlan } from './items.ts';
import type { JobResult } from './peers/job.ts';
import { type Peer, podless } from './peers/list.ts';
import { type OpenPeer, openPeer } from './peers/open.ts';
import type { RunCounts, RunSettings } from './proxy/settings.ts';
import { number, seconds } from './report/format.ts';
import type { Sizes } from './sizes.ts';
import { type BenchTable, createBenchTable, NEIGHBOUR_TOTAL } from './table.ts';

/** A way to let a peer loose on a fresh table. The server is started when it is first needed. */
export interface Bench {
  readonly sizes: Sizes;
  readonly signal: AbortSignal;
  /** A line on what is being done. */
  tell(text: string): void;
  /** Throws if the peer cannot be had on this machine. */
  open(peer: Peer): Promise<OpenPeer>;
  /** One run on a table of its own. Throws if another partition has lost an item. */
  measure(peer: OpenPeer, run: Run): Promise<Outcome>;
  /** A filled table, for several runs on one. */
  withTable<T>(items: ItemPlan, use: (table: BenchTable) => Promise<T>): Promise<T>;
  runOn(table: BenchTable, peer: OpenPeer, run: Run): Promise<RunOutcome>;
  close(): Promise<void>;
}

export interface Run {
  readonly settings: RunSettings;
  /** Default 8. */
  readonly inFlight?: number;
  /** Of podless only, as below. */
  readonly deadlineMs?: number;
  readonly continued?: boolean;
  /** Default: one minute, and one for each 50,000 items. */
  readonly timeLimitMs?: number;
}

export interface RunOutcome {
  readonly result: JobResult;
  readonly counts: RunCounts;
}

/** With what the table itself says afterwards. */
export interface Outcome extends RunOutcome {
  readonly left: number;
}

export interface BenchOptions {
  readonly startServer: () => Promise<DynamoDbServer>;
  readonly sizes: Sizes;
  readonly console: Pick<Console, 'line' | 'status'>;
  readonly signal: AbortSignal;
}

const IN_FLIGHT = 8;
const MINUTE = 60_000;

export function openBench({ startServer, sizes, console, signal }: BenchOptions): Bench {
  const peers = new Set<OpenPeer>();
  // A run may take minutes: whoever interrupts the bench should not wait for its end.
  signal.addEventListener('abort', () => {
    for (const peer of peers) void peer.close();
  });
  let starting: Promise<Engine> | undefined;
  let tables = 0;
  const engine = (): Promise<Engine> => {
    starting ??= startEngine(startServer);
    return starting;
  };

  async function withTable<T>(items: ItemPlan, use: (table: BenchTable) => Promise<T>): Promise<T> {
    const { client } = await engine();
    tables += 1;
    const table = await createBenchTable(client, `bench-${tables}`, items);
    await table.fill((written) => {
      signal.throwIfAborted();
      console.status(`  seeding ${number(written)} of ${number(items.count)} items`);
    });
    try {
      return await use(table);
    } finally {
      await table.remove();
    }
  }

  async function runOn(table: BenchTable, peer: OpenPeer, run: Run): Promise<RunOutcome> {
    signal.throwIfAborted();
    const { settings, inFlight = IN_FLIGHT, deadlineMs, continued } = run;
    const { count } = settings.items;
    const { timeLimitMs = MINUTE * (1 + Math.ceil(count / 50_000)) } = run;
    const { proxy } = await engine();
    await proxy.begin(settings);
    const job = {
      endpoint: proxy.url,
      tableName: table.name,
      inFlight,
      count,
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(continued !== undefined && { continued }),
    };
    const result = await peer.run(job, timeLimitMs);
    return { result, counts: await proxy.counts() };
  }

  return {
    sizes,
    signal,
    tell: console.line,
    async open(peer) {
      const open = await openPeer(await peer.command());
      peers.add(open);
      return open;
    },
    withTable,
    runOn,
    measure: (peer, run) =>
      withTable(run.settings.items, async (table) => {
        const outcome = await runOn(table, peer, run);
        const left = await table.countTarget();
        const touched = NEIGHBOUR_TOTAL - (await table.countNeighbours());
        if (touched > 0) throw new Error(`${touched} items of other partitions are gone`);
        return { ...outcome, left };
      }),
    async close() {
      await Promise.all([...peers].map((peer) => peer.close()));
      const started = await starting?.catch(() => undefined);
      await started?.stop();
    },
  };
}

const WARM_UP: ItemPlan = { count: 10_000, bytes: 200 };
const MAX_WARM_UPS = 12;
/** Rounds in a row without a new best by a tenth. */
const SETTLED_ROUNDS = 3;

/**
 * A fresh JVM is several times slower than a warm one: nothing is measured before it gets no faster. It reads as well as
 * writes meanwhile, or those who read would pay for its compiler.
 */
export async function warmUp(bench: Bench): Promise<void> {
  const peer = await bench.open(podless);
  const settings = { items: WARM_UP, latencyMs: 0 };
  let best = Infinity;
  let settled = 0;
  for (let round = 1; round <= MAX_WARM_UPS && settled < SETTLED_ROUNDS; round += 1) {
    const { milliseconds } = (await bench.measure(peer, { settings })).result;
    settled = milliseconds < 0.9 * best ? 0 : settled + 1;
    best = Math.min(best, milliseconds);
    bench.tell(`warming up the server, round ${round}: ${seconds(milliseconds)}`);
  }
  await peer.close();
}
