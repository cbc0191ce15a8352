import {
  checkPattern,
  type EventPattern,
  matchesPattern,
} from '../../../../local/cloud/event-pattern.ts';
import type { Fields } from '../template/fields.ts';
import type { Json } from '../template/json.ts';

/** Whether a record is worth delivering. */
export type Filter = (record: Json) => boolean;

/** FilterCriteria of a Pipe or an event source: any of its patterns; without it everything. Exact matches only. */
export function filterOf(criteria: Fields | undefined): Filter {
  if (!criteria) return () => true;
  const patterns = criteria.list('Filters').map((filter) => {
    const pattern = JSON.parse(filter.text('Pattern')) as EventPattern;
    checkPattern(pattern);
    return pattern;
  });
  return (record) => patterns.some((pattern) => matchesPattern(pattern, record));
}
