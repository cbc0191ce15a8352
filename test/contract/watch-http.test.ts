import { describe, expect, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import { withLabels } from '../../runtime/metrics.ts';
import { runWatch } from '../../runtime/watch/run-watch.ts';
import { defaultWatchSettings } from '../../runtime/watch/settings.ts';
import { createKindSource } from '../../runtime/watch/source.ts';
import {
  event,
  type HostileScript,
  hang,
  listOf,
  refuse,
  startHostileServer,
  stream,
  streamForEver,
  streamThenEnd,
  streamThenReset,
} from '../helpers/watch-hostile-server.ts';
import { createMemoryPlatform, operator } from '../helpers/watch-platform.ts';

const CURSOR = 'main/test.podless.dev/widgets';
const settings = {
  ...defaultWatchSettings,
  random: Math.random,
  silenceMilliseconds: 300,
  minimumMilliseconds: 10,
  maximumMilliseconds: 50,
  maxLineBytes: 100_000,
};

interface WatchTest extends HostileScript {
  /** The shift ends when the bus has this many hints ... */
  readonly hints?: number;
  /** ... or after this time. */
  readonly milliseconds?: number;
  readonly cursor?: string;
}

/** One shift against a server that follows the script. */
async function watch({ hints = Infinity, milliseconds = 5000, cursor, ...script }: WatchTest) {
  await using server = await startHostileServer(script);
  const kube = createKubeClient({ server: server.url, token: async () => 'token' });
  const memory = createMemoryPlatform(kube, systemClock);
  if (cursor !== undefined) memory.cursors.set(CURSOR, cursor);
  const shift = new AbortController();
  const { bus, cursors, clock, log } = memory.platform;
  const metrics = withLabels(memory.platform.metrics, { cluster: 'main' });
  const shiftEnd = clock.now() + milliseconds;
  const run = runWatch(createKindSource('main', operator), {
    ...{ kube, bus, cursors, clock, log, metrics, settings, shiftEnd, signal: shift.signal },
    counts: { forwarded: 0, suppressed: 0, relists: 0, reconnects: 0 },
  });
  while (memory.bus.length < hints && clock.now() < shiftEnd) await clock.sleep(5);
  await clock.sleep(20);
  shift.abort();
  await run;
  await clock.sleep(50);
  return { ...memory, server, leftOpen: server.openWatches() };
}

const positions = (watches: readonly URLSearchParams[]) =>
  watches.map((query) => query.get('resourceVersion'));

describe('a watch over HTTP', () => {
  test('asks for a consistent list and for bookmarks, and closes its connection in the end', async () => {
    const world = await watch({ watches: [streamForEver(event('ADDED', 'a', '101'))], hints: 1 });
    expect(world.names()).toEqual(['a:New']);
    expect(world.server.lists[1]?.get('limit')).toBe('500');
    expect(world.server.lists.some((query) => query.has('resourceVersion'))).toBe(false);
    expect(world.server.watches[0]?.get('allowWatchBookmarks')).toBe('true');
    expect(world.server.watches[0]?.get('resourceVersion')).toBe('100');
    expect(world.server.watches[0]?.get('timeoutSeconds')).toBe('5');
    expect(world.cursors.get(CURSOR)).toBe('101');
    expect(world.leftOpen).toBe(0);
  });

  test('notices a server that never answers', async () => {
    const world = await watch({
      watches: [hang, streamForEver(event('ADDED', 'a', '101'))],
      hints: 1,
    });
    expect(world.names()).toEqual(['a:New']);
    expect(world.leftOpen).toBe(0);
  });

  test('notices a list that is never answered', async () => {
    const watches = [streamForEver(event('ADDED', 'a', '101'))];
    const world = await watch({ lists: [hang, listOf('100')], watches, hints: 1 });
    expect(world.names()).toEqual(['a:New']);
  });

  test('notices a stream that went silent, and resumes after what it brought', async () => {
    const watches = [stream(event('ADDED', 'a', '101')), streamForEver(event('ADDED', 'b', '102'))];
    const lists = [listOf('100'), listOf('100'), listOf('101')];
    const world = await watch({ lists, watches, hints: 2 });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(positions(world.server.watches)).toEqual(['100', '101']);
    expect(world.leftOpen).toBe(0);
  });

  test('resumes after a stream that was reset in the middle of a line', async () => {
    const half = event('ADDED', 'b', '102').slice(0, 30);
    const watches = [
      streamThenReset(event('ADDED', 'a', '101'), half),
      streamForEver(event('ADDED', 'b', '102')),
    ];
    const world = await watch({ watches, hints: 2 });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(positions(world.server.watches)).toEqual(['100', '101']);
  });

  test('does not read a line that the end of the answer has cut', async () => {
    // Cut so that what is left is JSON still.
    const watches = [
      streamThenEnd(event('ADDED', 'a', '101'), '{"type":"ADDED"}'),
      streamForEver(event('ADDED', 'b', '102')),
    ];
    const world = await watch({ watches, hints: 2 });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(
      world.counter('podless_watch_reconnects_total', { kind: 'Widget', cause: 'truncated' }),
    ).toBe(1);
  });

  test('puts characters together that were cut over two chunks', async () => {
    const bytes = Buffer.from(event('ADDED', 'grün-🚀', '101'));
    const cut = bytes.indexOf(Buffer.from('🚀')) + 2;
    const watches = [streamForEver(bytes.subarray(0, cut), bytes.subarray(cut))];
    const world = await watch({ watches, hints: 1 });
    expect(world.bus[0]?.name).toBe('grün-🚀');
  });

  test('survives garbage, HTML and an oversized line', async () => {
    const watches = [
      streamThenEnd('<html>502 Bad Gateway</html>\n'),
      streamThenEnd(Buffer.from([0xff, 0xfe, 0x00, 0x0a])),
      streamForEver(`${'x'.repeat(200_000)}\n`, event('ADDED', 'a', '101')),
    ];
    const world = await watch({ watches, hints: 1 });
    expect(world.names()).toEqual(['a:New']);
    const rejected = (cause: string) =>
      world.counter('podless_watch_rejected_total', { kind: 'Widget', cause });
    expect(rejected('malformed')).toBe(2);
    expect(rejected('oversized')).toBe(1);
  });

  test.each([
    ['as an HTTP status', refuse(410)],
    ['as an event', streamThenEnd('{"type":"ERROR","object":{"kind":"Status","code":410}}\n')],
  ])('lists again after 410 %s', async (_, gone) => {
    const object = JSON.parse(event('ADDED', 'a', '150')).object;
    const watches = [gone, streamForEver(event('ADDED', 'b', '201'))];
    const world = await watch({ lists: [listOf('200', object)], watches, hints: 2, cursor: '7' });
    expect(world.names()).toEqual(['a:New', 'b:New']);
    expect(positions(world.server.watches)).toEqual(['7', '200']);
    expect(world.cursors.get(CURSOR)).toBe('201');
    expect(world.counter('podless_watch_gone_total', { kind: 'Widget' })).toBe(1);
  });

  test('waits as long as a server that throttles asks for', async () => {
    const watches = [refuse(429, { 'retry-after': '1' }), streamForEver()];
    const world = await watch({ watches, milliseconds: 700 });
    expect(world.server.watches).toHaveLength(1);
  });

  test('goes on when the server refuses, fails and comes back', async () => {
    const watches = [
      refuse(403),
      refuse(500),
      refuse(503),
      streamForEver(event('ADDED', 'a', '101')),
    ];
    const world = await watch({ watches, hints: 1 });
    expect(world.names()).toEqual(['a:New']);
  });

  test('does not ask a server that ends every stream at once more often than the backoff allows', async () => {
    const world = await watch({ watches: [streamThenEnd()], milliseconds: 500 });
    expect(world.server.watches.length).toBeLessThan(25);
  });
});
