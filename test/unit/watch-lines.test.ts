import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLineSplitter, type Line } from '../../runtime/watch/lines.ts';

function split(bytes: Uint8Array, cuts: readonly number[], most = 1000) {
  const splitter = createLineSplitter(most);
  const lines: Line[] = [];
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  for (let i = 1; i < edges.length; i += 1) {
    lines.push(...splitter.push(bytes.subarray(edges[i - 1], edges[i])));
  }
  return { lines, pendingBytes: splitter.pendingBytes };
}

describe('line splitter', () => {
  test('gives the same lines wherever the chunks are cut, also within a character', () => {
    const lines = fc.array(
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')),
    );
    fc.assert(
      fc.property(lines, fc.array(fc.nat()), (texts, numbers) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const cuts = numbers.map((number) => number % (bytes.length + 1));
        expect(split(bytes, cuts)).toEqual({
          lines: texts.map((text) => ({ text: Buffer.from(text).toString() })),
          pendingBytes: 0,
        });
      }),
    );
  });

  test('keeps a line back until its end has come', () => {
    expect(split(Buffer.from('whole\ncut of'), [])).toEqual({
      lines: [{ text: 'whole' }],
      pendingBytes: 6,
    });
  });

  test('drops a line over the cap, tells its size and goes on with the next', () => {
    const bytes = Buffer.from(`before\n${'x'.repeat(50)}\nafter\n`);
    const expected = [{ text: 'before' }, { oversizedBytes: 50 }, { text: 'after' }];
    expect(split(bytes, [], 10).lines).toEqual(expected);
    expect(split(bytes, [3, 9, 20, 40, 57, 58], 10).lines).toEqual(expected);
  });

  test('takes a line of exactly the cap', () => {
    expect(split(Buffer.from('0123456789\n'), [], 10).lines).toEqual([{ text: '0123456789' }]);
  });
});
