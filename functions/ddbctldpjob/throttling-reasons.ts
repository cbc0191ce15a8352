import { isRecord } from '../../runtime/untrusted.ts';
import type { Throttle } from './table.ts';

/** What DynamoDB says about whose limit was met, if it does; the most far-reaching of its reasons. */
export function readThrottle(error: object): Throttle | undefined {
  const { ThrottlingReasons: upper, throttlingReasons: lower } = error as Record<string, unknown>;
  const reasons: unknown = upper ?? lower;
  if (!Array.isArray(reasons)) return undefined;
  const throttles = reasons.map(readReason).filter((throttle) => throttle !== undefined);
  return order.map((by) => throttles.find((throttle) => throttle.by === by)).find(Boolean);
}

/** A full account concerns everybody, a full index every writer of the table. */
const order: readonly Throttle['by'][] = ['account', 'index', 'table', 'keyRange'];

function readReason(entry: unknown): Throttle | undefined {
  if (!isRecord(entry) || typeof entry['reason'] !== 'string') return undefined;
  const { reason, resource } = entry;
  const index = typeof resource === 'string' ? /\/index\/([^/]+)$/.exec(resource)?.[1] : undefined;
  const detail = index === undefined ? reason : `${reason} of index ${index}`;
  return { by: scopeOf(reason), detail };
}

/** Reasons are `<Table|Index><Read|Write><whose limit>Exceeded`. */
function scopeOf(reason: string): Throttle['by'] {
  if (reason.includes('AccountLimit')) return 'account';
  if (reason.startsWith('Index')) return 'index';
  return reason.includes('KeyRange') ? 'keyRange' : 'table';
}
