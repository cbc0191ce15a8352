import { HarnessGap } from './gap.ts';
import { type Context, equalsText, matchesArn, matchesText, valuesOf } from './pattern.ts';
import type { Condition } from './policy.ts';

type Matches = (wanted: string, value: string, context: Context) => boolean;

const isFlag: Matches = (wanted, value) => wanted.toLowerCase() === value.toLowerCase();

const operators: ReadonlyMap<string, { readonly matches: Matches; readonly negated: boolean }> =
  new Map([
    ['StringEquals', { matches: equalsText, negated: false }],
    ['StringNotEquals', { matches: equalsText, negated: true }],
    ['StringLike', { matches: matchesText, negated: false }],
    ['StringNotLike', { matches: matchesText, negated: true }],
    // AWS: the two behave the same.
    ['ArnEquals', { matches: matchesArn, negated: false }],
    ['ArnLike', { matches: matchesArn, negated: false }],
    ['Bool', { matches: isFlag, negated: false }],
  ]);

/** Whether a condition holds for a request. An operator that is not known is an error. */
export function conditionHolds({ operator, key, values }: Condition, context: Context): boolean {
  const actual = valuesOf(context, key);
  if (operator === 'Null') return values.includes(String(actual === undefined));
  const { quantifier, name, ifExists } = parseOperator(operator);
  const known = operators.get(name);
  if (!known) throw new HarnessGap(`the harness does not know condition operator ${operator}`);
  const satisfies = (value: string): boolean =>
    values.some((wanted) => known.matches(wanted, value, context)) !== known.negated;
  // AWS: true for a request without the key, which is why such a condition needs a Null beside it.
  if (quantifier === 'ForAllValues') return (actual ?? []).every(satisfies);
  if (quantifier === 'ForAnyValue') return (actual ?? []).some(satisfies);
  if (actual === undefined) return ifExists || known.negated;
  if (actual.length !== 1) {
    throw new HarnessGap(`${operator} on ${key} needs ForAllValues or ForAnyValue`);
  }
  return actual.every(satisfies);
}

function parseOperator(operator: string) {
  const [first = '', second] = operator.split(':');
  const full = second ?? first;
  const ifExists = full.endsWith('IfExists');
  return {
    quantifier: second === undefined ? undefined : first,
    name: ifExists ? full.slice(0, -'IfExists'.length) : full,
    ifExists,
  };
}
