import {
  type BatchReply,
  type ItemKey,
  type Partition,
  TableFault,
  type Throttle,
} from '../../functions/ddbctldpjob/table.ts';
import type { Clock } from '../../runtime/clock.ts';

export interface MeteredOptions {
  readonly clock: Clock;
  /** Write units per second, by seconds since the start; for each physical partition. */
  readonly cap: (second: number) => number;
  /** Seconds of unused capacity that are saved up. Default 1. */
  readonly burstSeconds?: number;
  /** Default 5. */
  readonly latencyMs?: number;
  /** The collection lies on so many machines, cut by sort key. Default 1. */
  readonly machines?: number;
  /** What a refusal gives as its reason. Default: key range. */
  readonly throttle?: Throttle;
  /** What goes wrong at any rate. Default: nothing. */
  readonly noise?: Noise;
}

/** Shares between 0 and 1; all default to 0. */
export interface Noise {
  readonly random: () => number;
  /** Of the keys of a batch. */
  readonly unprocessed?: number;
  /** Of the calls, as below. */
  readonly throttled?: number;
  /** Without effect, but nobody can know. */
  readonly serverErrors?: number;
}

export interface MeteredTable extends Partition {
  readonly items: Map<string, number>;
  readonly requests: readonly {
    readonly at: number;
    readonly units: number;
    readonly refused: boolean;
  }[];
  readonly seen: { pages: number; consistentPages: number };
  /** Of what the table could have taken between the first and the last delete, the share that it was given. */
  shareUsed(): number;
  refusedShare(): number;
}

const PAGE_UNITS = 1_024;
const nameOf = (key: ItemKey): string => ('S' in key ? key.S : '');

/** A partition in memory with a limit in write units, as DynamoDB has one for each machine. */
export function createMeteredTable(
  sizes: ReadonlyMap<string, number>,
  options: MeteredOptions,
): MeteredTable {
  const { clock, cap, burstSeconds = 1, latencyMs = 5, machines = 1 } = options;
  const throttle = options.throttle ?? { by: 'keyRange', detail: 'KeyRange' };
  const happens = (noise: Exclude<keyof Noise, 'random'>): boolean =>
    options.noise !== undefined && options.noise.random() < (options.noise[noise] ?? 0);
  const failAtRandom = (): void => {
    if (happens('throttled')) throw new TableFault('throttled', 'slow down', false);
    if (happens('serverErrors')) throw new TableFault('serverError', 'internal error', true);
  };
  const items = new Map(sizes);
  const names = [...sizes.keys()].sort();
  const places = new Map(names.map((name, index) => [name, index]));
  const started = clock.now();
  const requests: { at: number; units: number; refused: boolean }[] = [];
  const seen = { pages: 0, consistentPages: 0 };
  const capNow = () => cap((clock.now() - started) / 1_000);
  const buckets = Array.from({ length: machines }, () => ({
    tokens: capNow() * burstSeconds,
    at: started,
  }));
  const bucketOf = (name: string) => {
    const index = Math.floor(((places.get(name) ?? 0) * machines) / names.length);
    const bucket = buckets[index];
    if (!bucket) throw new Error(`no machine for ${name}`);
    const filled = bucket.tokens + (capNow() * (clock.now() - bucket.at)) / 1_000;
    bucket.tokens = Math.min(filled, capNow() * burstSeconds);
    bucket.at = clock.now();
    return bucket;
  };
  const isTaken = (name: string): boolean => {
    if (happens('unprocessed')) return false;
    const units = items.get(name) ?? 1;
    const bucket = bucketOf(name);
    if (bucket.tokens < Math.min(units, capNow() * burstSeconds)) return false;
    bucket.tokens -= units;
    return true;
  };

  return {
    items,
    requests,
    seen,
    async page({ after, upTo, backward = false, limit = Infinity, consistent = false, signal }) {
      await clock.sleep(latencyMs, signal);
      failAtRandom();
      seen.pages += 1;
      seen.consistentPages += Number(consistent);
      const inRange = names.filter(
        (name) =>
          items.has(name) &&
          (after === undefined || name > nameOf(after)) &&
          (upTo === undefined || name <= nameOf(upTo)),
      );
      if (backward) inRange.reverse();
      const page: string[] = [];
      let units = 0;
      for (const name of inRange) {
        if (page.length === limit || units >= PAGE_UNITS) break;
        page.push(name);
        units += items.get(name) ?? 0;
      }
      return {
        keys: page.map((S) => ({ S })),
        readUnits: Math.ceil(units / 4) / (consistent ? 1 : 2),
        ...(page.length < inRange.length && { next: { S: page.at(-1) ?? '' } }),
      };
    },
    count: () => Promise.reject(new Error('not counted here')),
    async deleteKeys(keys, signal): Promise<BatchReply> {
      await clock.sleep(latencyMs / 2, signal);
      const batch = keys.map(nameOf);
      if (batch.some((name) => !items.has(name))) throw new TypeError('deleted twice');
      failAtRandom();
      const taken = batch.filter(isTaken);
      const units = (some: readonly string[]) =>
        some.reduce((sum, name) => sum + (items.get(name) ?? 1), 0);
      const refused = taken.length < batch.length;
      requests.push({ at: clock.now(), units: units(batch), refused });
      const writeUnits = units(taken);
      for (const name of taken) items.delete(name);
      await clock.sleep(latencyMs / 2, signal);
      if (taken.length === 0) throw new TableFault('throttled', 'slow down', false, throttle);
      const left = batch.filter((name) => !taken.includes(name));
      return { unprocessed: left.map((S) => ({ S })), writeUnits };
    },
    shareUsed() {
      const first = requests[0]?.at ?? 0;
      const last = requests.at(-1)?.at ?? 0;
      let available = cap(0) * burstSeconds;
      for (let at = first; at < last; at += 10) available += cap((at - started) / 1_000) / 100;
      const used = [...sizes].reduce(
        (sum, [name, units]) => sum + (items.has(name) ? 0 : units),
        0,
      );
      return used / (available * machines);
    },
    refusedShare: () => requests.filter(({ refused }) => refused).length / requests.length,
  };
}

/** `item000000` and so on, each of the size that `sizeOf` gives it. */
export const sizedItems = (count: number, sizeOf: (index: number) => number = () => 1) =>
  new Map(
    Array.from({ length: count }, (_, index) => [
      `item${String(index).padStart(6, '0')}`,
      sizeOf(index),
    ]),
  );
