import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPartitionValue } from '../../functions/ddbctldpjob/partition-value.ts';
import type { KeyType } from '../../functions/ddbctldpjob/table.ts';

const read = (text: string, type: KeyType) =>
  readPartitionValue(text, { tableName: 't', partitionKey: { name: 'id', type } });
const isRead = (text: string, type: KeyType): boolean => read(text, type).ok;

describe('a string key', () => {
  test('is taken as it is, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 500 }), (text) => {
        expect(read(text, 'S')).toEqual({ ok: true, value: { S: text } });
      }),
    );
  });

  test('is refused if it is empty, longer than 2048 bytes, or not Unicode', () => {
    expect(isRead('', 'S')).toBe(false);
    expect(isRead('a'.repeat(2048), 'S')).toBe(true);
    expect(isRead('a'.repeat(2049), 'S')).toBe(false);
    expect(isRead('ä'.repeat(1025), 'S')).toBe(false);
    expect(isRead('\ud800', 'S')).toBe(false);
  });
});

describe('a number key', () => {
  const digits38 = '9'.repeat(38);
  test.each([
    ...['0', '-0', '1', '-1', '+1', '1.5', '.5', '5.', '007', '1e3', '1E+3', '-1.5e-3'],
    ...[digits38, `${digits38}000`, `0.${digits38}`, '1e125', '1e-130', `${digits38}e88`, '0e999'],
  ])('reads %s', (text) => {
    expect(read(text, 'N')).toEqual({ ok: true, value: { N: text } });
  });

  test.each([
    ...['', ' ', '1 ', ' 1', '1_000', '1,5', '0x10', '1e', 'e5', '.', '-', '--1', '1.2.3', 'NaN'],
    ...[
      'Infinity',
      'abc',
      '１',
      '1\n',
      `${digits38}9`,
      '1e126',
      '1e-131',
      `${digits38}e89`,
      '1e9999999',
    ],
    '1'.repeat(100_000),
  ])('refuses %j', (text) => {
    expect(isRead(text, 'N')).toBe(false);
  });

  test('reads every JavaScript number within range', () => {
    const numbers = fc.double({ noNaN: true, min: -1e120, max: 1e120 });
    fc.assert(
      fc.property(numbers, (number) => Math.abs(number) < 1e-129 || isRead(String(number), 'N')),
    );
  });

  test('is refused with a message that names field, table, key, type and value', () => {
    expect(read('abc', 'N')).toEqual({
      ok: false,
      problem:
        'spec.partitionValue must be a number, because the partition key "id" of table "t" has type N, got "abc"',
    });
  });
});

describe('a binary key', () => {
  test('is read from canonical base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 2048 }), (bytes) => {
        expect(read(Buffer.from(bytes).toString('base64'), 'B')).toEqual({
          ok: true,
          value: { B: bytes },
        });
      }),
    );
  });

  test.each(['', '=', 'A', 'AB', 'AA=', 'AB==', 'AA==\n', ' AA==', 'A-_A', 'AA==AA==', '!!!!'])(
    'refuses %j',
    (text) => {
      expect(isRead(text, 'B')).toBe(false);
    },
  );

  test('is refused beyond 2048 bytes, and the message does not repeat all of it', () => {
    const result = read(Buffer.alloc(2049).toString('base64'), 'B');
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.problem.length).toBeLessThan(300);
  });
});
