import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { KubeApiError } from '../../runtime/kube/client.ts';
import { CURSOR, createShiftWorld, fresh, settled, widget } from '../helpers/watch-shift.ts';

const streamOf =
  (...chunks: string[]) =>
  async () =>
    Readable.from(chunks.map((one) => Buffer.from(one)));
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const added = (name: string, resourceVersion: string) =>
  event('ADDED', { metadata: { name, uid: name, resourceVersion, generation: 1 } });
const reconnects = (world: ReturnType<typeof createShiftWorld>, cause: string) =>
  world.counter('podless_watch_reconnects_total', { kind: 'Widget', cause });
const rejected = (world: ReturnType<typeof createShiftWorld>, cause: string) =>
  world.counter('podless_watch_rejected_total', { kind: 'Widget', cause });

describe('a broken stream', () => {
  test('that ends within a line is resumed after the last whole one', async () => {
    const world = createShiftWorld();
    world.cluster.watchFaults.push(streamOf(added('a', '101'), '{"type":"ADDED","object":{"meta'));
    await world.shift(10);
    expect(world.names()).toEqual(['a:New']);
    expect(world.cluster.watches[1]?.resourceVersion).toBe('101');
    expect(reconnects(world, 'truncated')).toBe(1);
    expect(rejected(world, 'malformed')).toBe(0);
  });

  test('that brings garbage is resumed before it, with all before it forwarded', async () => {
    const world = createShiftWorld();
    world.cluster.watchFaults.push(
      streamOf(`${added('a', '101')}<html>oops</html>\n${added('x', '999')}`),
    );
    await world.shift(10);
    expect(world.names()).toEqual(['a:New']);
    expect(world.cluster.watches[1]?.resourceVersion).toBe('101');
    expect(rejected(world, 'malformed')).toBe(1);
  });

  test('that brings garbage at one place again and again is replaced by a list', async () => {
    const world = createShiftWorld();
    const garbage = streamOf('[]\n');
    world.cluster.watchFaults.push(garbage, garbage, garbage);
    const report = await world.shift(30, { 20: () => world.cluster.apply(widget, fresh('a')) });
    expect(report).toMatchObject({ relists: 2, reconnects: 3 });
    expect(world.names()).toEqual(['a:New']);
  });

  test('that reports an error other than 410 is resumed', async () => {
    const world = createShiftWorld();
    world.cluster.watchFaults.push(
      streamOf(event('ERROR', { code: 500, message: 'etcd is away' })),
    );
    const report = await world.shift(10, { 5: () => world.cluster.apply(widget, fresh('a')) });
    expect(world.names()).toEqual(['a:New']);
    expect(report).toMatchObject({ relists: 1, reconnects: 1 });
    expect(reconnects(world, 'error_event')).toBe(1);
  });

  test('that is reset is resumed', async () => {
    const world = createShiftWorld();
    world.cluster.watchFaults.push(async () => {
      const stream = new PassThrough();
      stream.write(added('a', '100'));
      setImmediate(() => stream.destroy(new Error('ECONNRESET')));
      return stream;
    });
    await world.shift(10, { 5: () => world.cluster.apply(widget, fresh('b')) });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(reconnects(world, 'unreachable')).toBe(1);
  });

  test('that stays silent is given up before 90 seconds and closed', async () => {
    const world = createShiftWorld();
    const silent = new PassThrough();
    world.cluster.watchFaults.push(async () => silent);
    await world.shift(120, { 30: () => world.cluster.apply(widget, fresh('a')) });
    expect(world.names()).toEqual(['a:New']);
    expect(silent.destroyed).toBe(true);
    const [first, second] = world.cluster.watches;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(90_000);
  });

  test('whose headers never come is given up before 90 seconds, and closed if they come late', async () => {
    const world = createShiftWorld();
    const late = new PassThrough();
    const answer = Promise.withResolvers<Readable>();
    world.cluster.watchFaults.push(() => answer.promise);
    await world.shift(120, {
      30: () => world.cluster.apply(widget, fresh('a')),
      100: () => answer.resolve(late),
    });
    expect(world.names()).toEqual(['a:New']);
    expect(reconnects(world, 'silent')).toBe(1);
    expect(late.destroyed).toBe(true);
  });

  test('from a position the cluster has not reached is replaced by a list', async () => {
    const world = createShiftWorld();
    world.cursors.set(CURSOR, '999999');
    world.cluster.apply(widget, fresh('a'));
    await world.shift(20, { 10: () => world.cluster.apply(widget, fresh('b')) });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(world.cursors.get(CURSOR)).toBe(world.cluster.revision());
  });

  test('that is silent because nothing happens is reopened now and then, but nothing is listed', async () => {
    const world = createShiftWorld();
    world.cluster.apply(widget, fresh('a'));
    const report = await world.shift(600);
    expect(world.names()).toEqual(['a:New']);
    expect(report.relists).toBe(1);
    expect(report.reconnects).toBeLessThanOrEqual(8);
    const gaps = world.cluster.watches
      .slice(1)
      .map(({ at }, i) => at - (world.cluster.watches[i]?.at ?? 0));
    expect(Math.max(...gaps)).toBe(75_000);
  });

  test('a quiet one with bookmarks is healthy and is not reopened', async () => {
    const world = createShiftWorld();
    const report = await world.shift(280, { 1: () => world.cluster.apply(widget, settled('a')) });
    expect(report).toMatchObject({ reconnects: 0, relists: 1 });
  });

  test('that ends well after its time is reopened at once', async () => {
    const world = createShiftWorld();
    await world.shift(20, { 10: () => world.cluster.endStreams() });
    const [first, second] = world.cluster.watches;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(10_000);
    expect(reconnects(world, 'ended')).toBe(1);
  });

  test('that ends at once and empty is not reopened in a hot loop', async () => {
    const world = createShiftWorld();
    world.cluster.watchFaults.push(...Array.from({ length: 1000 }, () => streamOf()));
    const report = await world.shift(60);
    expect(report.reconnects).toBeLessThan(10);
  });
});

describe('bad data', () => {
  test('an oversized line is dropped and the stream goes on', async () => {
    const world = createShiftWorld();
    const script = {
      1: () => world.cluster.apply(widget, { ...fresh('big'), spec: 'x'.repeat(5000) }),
      2: () => world.cluster.apply(widget, fresh('small')),
    };
    const report = await world.shift(10, script, { maxLineBytes: 1000 });
    expect(world.names()).toEqual(['small:New']);
    expect(rejected(world, 'oversized')).toBe(1);
    expect(report.reconnects).toBe(0);
  });

  test('an object without readable metadata costs only itself, in a list and in a stream', async () => {
    const world = createShiftWorld();
    const bad = { metadata: { namespace: 'n', name: 'bad', uid: 5 } };
    const shapes = [bad, null, 'text', { metadata: [] }];
    for (const [i, shape] of shapes.entries()) world.cluster.applyRaw(widget, `bad${i}`, shape);
    world.cluster.apply(widget, fresh('a'));
    const report = await world.shift(10, {
      1: () => world.cluster.applyRaw(widget, 'later', bad),
      2: () => world.cluster.apply(widget, fresh('b')),
    });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(rejected(world, 'unparsable')).toBe(5);
    expect(report.reconnects).toBe(0);
    expect(world.lines).toContainEqual(
      expect.objectContaining({
        message: 'object cannot be read',
        namespace: 'n',
        name: 'bad',
        missing: ['uid', 'resourceVersion'],
      }),
    );
  });
});

describe('the API server', () => {
  const refuse = (status: number, retryAfterSeconds?: number) => () => {
    throw new KubeApiError(status, 'Refused', `answered ${status}`, retryAfterSeconds);
  };

  test('that throttles is given the time it asks for', async () => {
    const world = createShiftWorld();
    world.cluster.listFaults.push(refuse(429, 20));
    await world.shift(60);
    const [first, second] = world.cluster.lists;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(20_000);
  });

  test.each([401, 403])(
    'that answers %i is asked again, and the log names the kind',
    async (status) => {
      const world = createShiftWorld();
      world.cluster.apply(widget, fresh('a'));
      world.cluster.listFaults.push(refuse(status), refuse(status));
      await world.shift(60);
      expect(world.names()).toEqual(['a:New']);
      expect(world.lines).toContainEqual(
        expect.objectContaining({ message: 'watch denied', kind: 'Widget', level: 'error' }),
      );
    },
  );

  test('that is down for a minute is not asked more than a few times, and no list is made for it', async () => {
    const world = createShiftWorld();
    world.cluster.apply(widget, settled('a'));
    world.cursors.set(CURSOR, world.cluster.revision());
    const down = async () => {
      throw new Error('ECONNREFUSED');
    };
    world.cluster.watchFaults.push(down, down, down, down, down);
    const report = await world.shift(120, { 20: () => world.cluster.apply(widget, fresh('b')) });
    expect(world.names()).toEqual(['b:New']);
    expect(report).toMatchObject({ relists: 0, reconnects: 5 });
  });
});
