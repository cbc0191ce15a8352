import type { Bench, Outcome, Run } from './bench.ts';
import { competitors, type Peer, type PeerName, podless } from './peers/list.ts';
import type { OpenPeer } from './peers/open.ts';
import type { RunSettings } from './proxy/settings.ts';

export interface Contest {
  readonly settings: RunSettings;
  /** Podless first: the others may be told how many batches it has in flight. */
  readonly peers: readonly Peer[];
  readonly rounds: (peer: Peer) => number;
  readonly timeLimitMs?: number;
}

/** The outcomes of each peer, a round after the other. */
export type Outcomes = ReadonlyMap<PeerName, readonly Outcome[]>;

const WARM_UP_ITEMS = 500;

/** A, B, C, A, B, C: what the machine does besides meets them all alike. */
export async function interleave(bench: Bench, contest: Contest): Promise<Outcomes> {
  const { settings, peers, rounds, timeLimitMs } = contest;
  const outcomes = new Map<PeerName, Outcome[]>();
  const open = new Map<PeerName, OpenPeer>();
  let inFlight = 8;
  const run = (): Run => ({
    settings,
    inFlight,
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  });
  try {
    for (const peer of peers.filter((one) => rounds(one) > 0)) {
      const opened = await openIfThere(bench, peer);
      if (!opened) continue;
      open.set(peer.name, opened);
      outcomes.set(peer.name, []);
      // Not measured: the compilers of JavaScript and the first connections.
      const items = { ...settings.items, count: Math.min(WARM_UP_ITEMS, settings.items.count) };
      await bench.measure(opened, { settings: { items, latencyMs: 0 }, inFlight });
    }
    for (let round = 0; round < Math.max(...peers.map(rounds)); round += 1) {
      for (const peer of peers) {
        const opened = open.get(peer.name);
        if (!opened || round >= rounds(peer)) continue;
        const outcome = await bench.measure(opened, run());
        if (peer === podless) inFlight = outcome.counts.writes.peakInFlight;
        outcomes.get(peer.name)?.push(outcome);
        bench.tell(`  ${peer.name}, round ${round + 1}: ${describe(outcome)}`);
      }
    }
  } finally {
    await Promise.all([...open.values()].map((one) => one.close()));
  }
  return outcomes;
}

/** A competitor that cannot be had here (no Python, no registry) is left out, visibly. */
async function openIfThere(bench: Bench, peer: Peer): Promise<OpenPeer | undefined> {
  try {
    return await bench.open(peer);
  } catch (error) {
    if (!competitors.includes(peer)) throw error;
    bench.tell(`  ${peer.name} is not measured: ${(error as Error).message}`);
    return undefined;
  }
}

function describe({ result, counts, left }: Outcome): string {
  const seconds = (result.milliseconds / 1000).toFixed(1);
  const requests = counts.writes.requests.toLocaleString('en');
  const trouble = result.failure === undefined ? '' : `, ${result.failure}`;
  return `${seconds} s, ${requests} batches, ${left} left${trouble}`;
}
