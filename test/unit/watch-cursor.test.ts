import { describe, expect, test } from 'vitest';
import { CURSOR, createShiftWorld, fresh, settled, widget } from '../helpers/watch-shift.ts';

const failures = (count: number) => {
  let left = count;
  return () => {
    left -= 1;
    if (left >= 0) throw new Error('bus is down');
  };
};

describe('the cursor', () => {
  test('does not move while the bus refuses, and nothing is lost when it accepts again', async () => {
    const world = createShiftWorld();
    const positions: (string | undefined)[] = [];
    const start = world.cluster.revision();
    world.cursors.set(CURSOR, start);
    world.memory.beforePut = failures(4);
    await world.shift(60, {
      1: () => world.cluster.apply(widget, fresh('a')),
      2: () => world.cluster.apply(widget, fresh('b')),
      3: () => positions.push(world.cursors.get(CURSOR)),
    });
    expect(positions).toEqual([start]);
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(world.cursors.get(CURSOR)).toBe(world.cluster.revision());
  });

  test('stays behind what the bus never took, so that the next shift brings it', async () => {
    const world = createShiftWorld();
    await world.shift(5);
    world.memory.beforePut = failures(1000);
    await world.shift(20, { 1: () => world.cluster.apply(widget, fresh('a')) });
    expect(world.names()).toEqual([]);
    world.memory.beforePut = undefined;
    await world.shift(5);
    expect(world.names()).toEqual(['a:New']);
  });

  test('is not kept from moving by a bus that never answers', async () => {
    const world = createShiftWorld();
    let calls = 0;
    world.memory.beforePut = () => {
      calls += 1;
      return calls === 1 ? new Promise(() => undefined) : undefined;
    };
    world.cluster.apply(widget, fresh('a'));
    await world.shift(200);
    expect(world.names()).toEqual(['a:New']);
  });

  test('is stored at most every two seconds while changes arrive', async () => {
    const world = createShiftWorld();
    const script = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        1 + i / 10,
        () => world.cluster.apply(widget, settled(`w${i}`)),
      ]),
    );
    await world.shift(20, script);
    expect(world.memory.cursorWrites).toBeLessThanOrEqual(8);
    expect(world.cursors.get(CURSOR)).toBe(world.cluster.revision());
  });

  test('is not stored again while nothing changes', async () => {
    const world = createShiftWorld();
    await world.shift(280);
    expect(world.memory.cursorWrites).toBe(1);
  });

  test('moves with bookmarks of changes elsewhere', async () => {
    const world = createShiftWorld();
    const other = { ...widget, plural: 'others' };
    await world.shift(200, { 10: () => world.cluster.apply(other, fresh('elsewhere')) });
    expect(world.cursors.get(CURSOR)).toBe(world.cluster.revision());
  });

  test('whose store fails or hangs does not stop the watch', async () => {
    const world = createShiftWorld();
    const fail = () => Promise.reject(new Error('table is away'));
    const cursors = { read: fail, write: () => new Promise<void>(() => undefined), clear: fail };
    Object.assign(world.platform.cursors, cursors);
    world.cluster.apply(widget, fresh('a'));
    await world.shift(20, { 10: () => world.cluster.apply(widget, fresh('b')) });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(world.lines).toContainEqual(expect.objectContaining({ message: 'cursor store failed' }));
  });
});

describe('a burst', () => {
  test('reaches the bus in batches, one hint per object in each', async () => {
    const world = createShiftWorld();
    const sizes: number[] = [];
    world.memory.beforePut = (hints) => void sizes.push(hints.length);
    await world.shift(20, {
      5: () => {
        for (let i = 0; i < 1000; i += 1) world.cluster.apply(widget, fresh(`w${i % 500}`));
      },
    });
    expect(new Set(world.bus.map((hint) => hint.name)).size).toBe(500);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
    expect(sizes.length).toBeLessThan(100);
  });
});
