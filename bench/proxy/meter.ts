import { type ItemPlan, indexOf, SORT_KEY, TARGET, unitsOf } from '../items.ts';
import { type Bucket, createBucket } from './bucket.ts';
import { type Cap, TIMELINE_SECONDS } from './settings.ts';
import { unitsBetween } from './timetable.ts';

/** One element of a BatchWriteItem, as far as it matters here. */
export interface WriteRequest {
  readonly DeleteRequest?: { readonly Key: Readonly<Record<string, { readonly S?: string }>> };
}

export interface Admission {
  readonly accepted: readonly WriteRequest[];
  readonly refused: readonly WriteRequest[];
  /** Of what is accepted. */
  readonly units: number;
}

/** Decides what may be deleted now, as the table's capacity would, and keeps count. */
export interface Meter {
  /** @param keep asked for each element: false refuses it whatever the capacity */
  admit(requests: readonly WriteRequest[], keep: () => boolean): Admission;
  units(): { deleted: number; largestRequest: number; share: number };
  secondsFromFirstToLastDelete(): number;
  timeline(): readonly number[];
}

/** @param seconds a clock that never goes back */
export function createMeter(plan: ItemPlan, cap: Cap | undefined, seconds: () => number): Meter {
  const buckets = createBuckets(cap);
  const gone = new Uint8Array(plan.count);
  const timeline: number[] = [];
  let startedAt: number | undefined;
  let firstDelete: number | undefined;
  let lastDelete = 0;
  let deleted = 0;
  let largestRequest = 0;

  const bucketOf = (index: number): Bucket | undefined =>
    buckets[Math.min(buckets.length - 1, Math.floor((index * buckets.length) / plan.count))];

  function count(units: number, second: number): void {
    if (units === 0) return;
    firstDelete ??= second;
    lastDelete = second;
    deleted += units;
    const slot = Math.floor(second / TIMELINE_SECONDS);
    while (timeline.length <= slot) timeline.push(0);
    timeline[slot] = (timeline[slot] ?? 0) + units;
  }

  /** What the cap allowed from the first delete to the last: the burst at first, and the rate from then on. */
  const allowed = (): number =>
    cap
      ? cap.burstUnits * buckets.length +
        buckets.length * unitsBetween(cap.timetable, firstDelete ?? 0, lastDelete)
      : Infinity;

  return {
    admit(requests, keep) {
      const now = seconds();
      startedAt ??= now;
      const second = now - startedAt;
      const accepted: WriteRequest[] = [];
      const refused: WriteRequest[] = [];
      let units = 0;
      let asked = 0;
      for (const request of requests) {
        const index = targetIndexOf(request, plan);
        // To delete what is not there costs one unit.
        const cost = index === undefined || gone[index] === 1 ? 1 : unitsOf(plan, index);
        asked += cost;
        const bucket = bucketOf(index ?? 0);
        if (!keep() || (bucket && !bucket.take(cost, second))) {
          refused.push(request);
          continue;
        }
        accepted.push(request);
        units += cost;
        if (index !== undefined) gone[index] = 1;
      }
      largestRequest = Math.max(largestRequest, asked);
      count(units, second);
      return { accepted, refused, units };
    },
    units() {
      const debt = buckets.reduce((sum, bucket) => sum + bucket.debt(), 0);
      return { deleted, largestRequest, share: (deleted - debt) / allowed() };
    },
    secondsFromFirstToLastDelete: () => lastDelete - (firstDelete ?? lastDelete),
    timeline: () => timeline,
  };
}

function createBuckets(cap: Cap | undefined): readonly Bucket[] {
  if (!cap) return [];
  const { timetable, burstUnits, partitions = 1 } = cap;
  return Array.from({ length: partitions }, () => createBucket(timetable, burstUnits));
}

/** Its number in the plan; undefined for an item of another partition. */
function targetIndexOf({ DeleteRequest }: WriteRequest, plan: ItemPlan): number | undefined {
  const { pk, [SORT_KEY]: sortKey } = DeleteRequest?.Key ?? {};
  if (pk?.S !== TARGET || sortKey?.S === undefined) return undefined;
  const index = indexOf(sortKey.S);
  return index < plan.count ? index : undefined;
}
