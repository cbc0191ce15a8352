import { mostItemsOfPage } from '../items.ts';
import { type Chance, createChance } from './chance.ts';
import { createMeter, type Meter } from './meter.ts';
import type { RunCounts, RunSettings } from './settings.ts';

/** One run of one peer, from the proxy's side. */
export interface ProxyRun {
  readonly latencyMs: number;
  /** Of a query that does not ask for less. */
  readonly pageLimit: number;
  readonly meter: Meter;
  readonly chance: Chance;
  beginCall(operation: string): void;
  endCall(operation: string): void;
  countRefusal(kind: 'refused' | 'partlyRefused'): void;
  counts(): RunCounts;
}

const WRITE = 'BatchWriteItem';

export function createProxyRun({ items, latencyMs, cap, faults }: RunSettings): ProxyRun {
  const meter = createMeter(items, cap, () => performance.now() / 1000);
  const chance = createChance(faults);
  const calls: Record<string, number> = {};
  const refusals = { refused: 0, partlyRefused: 0 };
  let inFlight = 0;
  let peakInFlight = 0;
  return {
    latencyMs,
    pageLimit: mostItemsOfPage(items),
    meter,
    chance,
    beginCall(operation) {
      calls[operation] = (calls[operation] ?? 0) + 1;
      if (operation !== WRITE) return;
      inFlight += 1;
      peakInFlight = Math.max(peakInFlight, inFlight);
    },
    endCall(operation) {
      if (operation === WRITE) inFlight -= 1;
    },
    countRefusal(kind) {
      refusals[kind] += 1;
    },
    counts: () => ({
      calls,
      writes: { requests: calls[WRITE] ?? 0, ...refusals, peakInFlight },
      units: meter.units(),
      secondsFromFirstToLastDelete: meter.secondsFromFirstToLastDelete(),
      timeline: meter.timeline(),
      faults: chance.counts(),
    }),
  };
}
