/** Tells of a problem. */
export type Refuse = (problem: string) => void;

export type Fields = Readonly<Record<string, unknown>>;

export const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** Keys that other helm operators have, and why there is no need for them. */
const elsewhere: Readonly<Record<string, string>> = {
  reconcilePeriod: 'changes are seen at once, and the resync looks at every object again',
  maxConcurrentReconciles: 'every kind has a function and a limit of its own',
  dryRunOption: 'a chart is rendered without the cluster, so its lookups find nothing',
  matchExpressions: 'only matchLabels are compared',
};

/** @param at where the fields are, such as `selector.` */
export function refuseUnknownKeys(
  fields: Fields,
  known: readonly string[],
  refuse: Refuse,
  at = '',
): void {
  for (const key of Object.keys(fields).filter((name) => !known.includes(name))) {
    const why = Object.hasOwn(elsewhere, key) ? elsewhere[key] : undefined;
    refuse(
      why === undefined
        ? `${at}${key} is not known, must be one of ${known.join(', ')}`
        : `${at}${key} must be left out: ${why}`,
    );
  }
}

/** Reads texts; one that is not as expected is told of, and read as ''. */
export const textIn =
  (fields: Fields, at: string, refuse: Refuse) =>
  (key: string, pattern: RegExp, expected: string): string => {
    const value = fields[key];
    if (typeof value === 'string' && pattern.test(value)) return value;
    refuse(`${at}${key} must be ${expected}, got ${shown(value)}`);
    return '';
  };
