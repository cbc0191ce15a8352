import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concurrently } from '../../runtime/concurrently.ts';

/** Lets all that is ready go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('concurrently', () => {
  test('keeps the order of the items, whatever ends first, and never exceeds the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(3), { maxLength: 20 }),
        fc.integer({ min: 1, max: 6 }),
        async (delays, limit) => {
          let running = 0;
          let most = 0;
          const results = await concurrently(
            [...delays.entries()],
            limit,
            async ([index, turns]) => {
              running += 1;
              most = Math.max(most, running);
              for (let i = 0; i < turns; i += 1) await turn();
              running -= 1;
              return index * 10;
            },
          );
          expect(results).toEqual(delays.map((_, index) => index * 10));
          expect(most).toBeLessThanOrEqual(limit);
          if (delays.every((turns) => turns > 0)) expect(most).toBe(Math.min(limit, delays.length));
        },
      ),
    );
  });

  test('throws the first failure, after what was begun has ended, and begins nothing more', async () => {
    const events: string[] = [];
    const work = async (item: string) => {
      events.push(`begin ${item}`);
      if (item === 'bad') throw new Error('bad');
      await turn();
      await turn();
      events.push(`end ${item}`);
      if (item === 'slow') throw new Error('slow');
    };
    const run = concurrently(['slow', 'bad', 'never'], 2, work);
    await expect(run).rejects.toThrow('bad');
    expect(events).toEqual(['begin slow', 'begin bad', 'end slow']);
  });

  test('leaves no item out, however small the limit', async () => {
    expect(await concurrently([1, 2], 0, async (item) => item)).toEqual([1, 2]);
    expect(await concurrently([], 3, async (item) => item)).toEqual([]);
  });
});
