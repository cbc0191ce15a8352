import type { KeyAttribute, KeyType, KeyValue } from './table.ts';

export type PartitionValue =
  | { readonly ok: true; readonly value: KeyValue }
  | { readonly ok: false; readonly problem: string };

export interface PartitionValueSource {
  readonly tableName: string;
  readonly partitionKey: KeyAttribute;
}

const MAX_KEY_BYTES = 2048;
const MAX_SHOWN_CHARACTERS = 64;
const MAX_DIGITS = 38;
/** Exponents of the first significant digit: DynamoDB numbers reach from 1E-130 to 9.99...E+125. */
const MIN_EXPONENT = -130;
const MAX_EXPONENT = 125;

const expected: Readonly<Record<KeyType, string>> = {
  S: `a string of 1 to ${MAX_KEY_BYTES} bytes in UTF-8`,
  N: 'a number',
  B: `1 to ${MAX_KEY_BYTES} bytes in base64`,
};

/** Reads `spec.partitionValue` as the type of the table's partition key. */
export function readPartitionValue(text: string, source: PartitionValueSource): PartitionValue {
  const { type, name } = source.partitionKey;
  const value = readers[type](text);
  if (value !== undefined) return { ok: true, value };
  const because = `the partition key "${name}" of table "${source.tableName}" has type ${type}`;
  const problem = `spec.partitionValue must be ${expected[type]}, because ${because}, got ${shown(text)}`;
  return { ok: false, problem };
}

const readers: Readonly<Record<KeyType, (text: string) => KeyValue | undefined>> = {
  S: (text) =>
    hasKeyLength(Buffer.byteLength(text)) && text.isWellFormed() ? { S: text } : undefined,
  N: (text) => (isDynamoNumber(text) ? { N: text } : undefined),
  B: (text) => {
    const bytes = Buffer.from(text, 'base64');
    // Node skips what is not base64; only the canonical form comes out again as it went in.
    const isCanonical = bytes.toString('base64') === text;
    return isCanonical && hasKeyLength(bytes.length) ? { B: new Uint8Array(bytes) } : undefined;
  },
};

const hasKeyLength = (bytes: number): boolean => bytes >= 1 && bytes <= MAX_KEY_BYTES;

function isDynamoNumber(text: string): boolean {
  // Far more than any valid number needs; keeps the work on a hostile value small.
  if (text.length > 512) return false;
  const match =
    /^[+-]?(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[+-]?\d{1,6}))?$/.exec(text);
  if (!match?.groups) return false;
  const { whole = '', fraction = '', exponent = '0' } = match.groups;
  const digits = whole + fraction;
  if (digits === '') return false;
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return true;
  if (significant.replace(/0+$/, '').length > MAX_DIGITS) return false;
  const leadingZeros = digits.length - significant.length;
  const firstDigitExponent = whole.length - leadingZeros - 1 + Number(exponent);
  return firstDigitExponent >= MIN_EXPONENT && firstDigitExponent <= MAX_EXPONENT;
}

function shown(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, MAX_SHOWN_CHARACTERS))}… (${text.length} characters)`;
}
