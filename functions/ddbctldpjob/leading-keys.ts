import type { KeyValue } from './table.ts';

/**
 * How IAM's `dynamodb:LeadingKeys` may write a partition value. A number is the same in many notations; both the one in
 * our requests and the plain one are named, because it is not documented which of them IAM sees.
 */
export function leadingKeysOf(value: KeyValue): readonly string[] {
  if ('S' in value) return [value.S];
  if ('B' in value) return [Buffer.from(value.B).toString('base64')];
  return [...new Set([value.N, plainDecimal(value.N)])];
}

/** `-1.50e3` is `-1500`; the text is a number that DynamoDB takes. */
function plainDecimal(text: string): string {
  const match =
    /^(?<sign>[+-]?)(?<whole>\d*)\.?(?<fraction>\d*)(?:[eE](?<exponent>[+-]?\d+))?$/.exec(text);
  const { sign = '', whole = '', fraction = '', exponent = '0' } = match?.groups ?? {};
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const integer = digits.slice(0, Math.max(point, 0)).padEnd(Math.max(point, 0), '0');
  const rest = digits.slice(Math.max(point, 0)).padStart(Math.max(digits.length - point, 0), '0');
  const decimals = rest.replace(/0+$/, '');
  const trimmed = integer.replace(/^0+(?=\d)/, '') || '0';
  const absolute = decimals === '' ? trimmed : `${trimmed}.${decimals}`;
  return sign === '-' && absolute !== '0' ? `-${absolute}` : absolute;
}
