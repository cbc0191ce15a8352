import '../helpers/dynamodb-credentials.ts';
import { inspect } from 'node:util';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { describe, expect, test } from 'vitest';
import { clientOptions } from '../../runtime/aws/client-options.ts';
import { createEventBus } from '../../runtime/aws/event-bridge.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createHint, type Hint } from '../../runtime/hint.ts';
import {
  cutOff,
  type HostileService,
  hang,
  refuse,
  reply,
  reset,
  type ServiceBehaviour,
  type ServiceCall,
  startHostileService,
  webPage,
} from '../helpers/aws-hostile-service.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';
import { widgetKind } from '../helpers/runtime-widget.ts';
import { createTestClock } from '../helpers/runtime-world.ts';
import { until } from '../helpers/until.ts';

const hintsOf = (count: number): Hint[] =>
  Array.from({ length: count }, (_, index) =>
    createHint(
      { cluster: 'main', kind: widgetKind, namespace: 'default', name: `w${index}` },
      'Changed',
      '1',
    ),
  );

const busAt = ({ url }: HostileService, clock: Clock = createTestClock(), random = () => 0.5) => {
  const site = { region: 'us-east-1', endpoint: url, requestMilliseconds: 1_500 };
  const client = new EventBridgeClient(clientOptions(site));
  return createEventBus({ name: 'podless', client, clock, random });
};

const entriesOf = ({ body }: ServiceCall) => body['Entries'] as { readonly Detail: string }[];
const namesOf = (call: ServiceCall): string[] =>
  entriesOf(call).map(({ Detail }) => JSON.parse(Detail).name);

/** Takes all entries but those whose object's name is in `failures`, and says why not. */
const take =
  (failures: Readonly<Record<string, string>> = {}): ServiceBehaviour =>
  (response, call) => {
    const Entries = namesOf(call).map((name) =>
      failures[name] === undefined
        ? { EventId: name }
        : { ErrorCode: failures[name], ErrorMessage: 'not now' },
    );
    const FailedEntryCount = Entries.filter((entry) => 'ErrorCode' in entry).length;
    reply({ FailedEntryCount, Entries })(response, call);
  };

describe('a put', () => {
  test('sends the hint alone, from our source, by its kind, to the bus', async () => {
    await using service = await startHostileService(take());
    const [hint] = hintsOf(1);
    await busAt(service).put(hintsOf(1));
    expect(service.calls.map(entriesOf)).toEqual([
      [
        {
          EventBusName: 'podless',
          Source: 'podless',
          DetailType: widgetKind.kind,
          Detail: JSON.stringify(hint),
        },
      ],
    ]);
  });

  test('of nothing makes no call', async () => {
    await using service = await startHostileService(take());
    await busAt(service).put([]);
    expect(service.calls).toEqual([]);
  });

  test('goes in tens, several calls at once but not all', async () => {
    await using service = await startHostileService((response, call) =>
      setTimeout(() => take()(response, call), 20),
    );
    await busAt(service).put(hintsOf(205));
    expect(service.calls.map((call) => namesOf(call).length).toSorted((a, b) => a - b)).toEqual([
      5,
      ...Array<number>(20).fill(10),
    ]);
    expect(new Set(service.calls.flatMap(namesOf)).size).toBe(205);
    expect(service.mostAtOnce()).toBeGreaterThan(1);
    expect(service.mostAtOnce()).toBeLessThanOrEqual(8);
  });

  test('sends again only what was not taken', async () => {
    await using service = await startHostileService(
      take({ w1: 'ThrottlingException', w3: 'InternalFailure' }),
      take({ w3: 'InternalException' }),
      take(),
    );
    await busAt(service).put(hintsOf(5));
    expect(service.calls.map(namesOf)).toEqual([
      ['w0', 'w1', 'w2', 'w3', 'w4'],
      ['w1', 'w3'],
      ['w3'],
    ]);
  });

  test.each<[string, ServiceBehaviour]>([
    ['throttled', refuse(400, 'ThrottlingException', 'Rate exceeded')],
    ['an internal error', refuse(500, 'InternalException')],
    ['a gateway without backend', webPage],
    ['an answer that says nothing of the entries', reply({})],
    ['an answer that is cut off', cutOff],
    ['a reset connection', reset],
    ['no answer at all', hang],
  ])('is sent again after %s', async (_, behaviour) => {
    await using service = await startHostileService(behaviour, behaviour, take());
    await busAt(service).put(hintsOf(3));
    expect(service.calls.map(namesOf)).toEqual(Array(3).fill(['w0', 'w1', 'w2']));
  });

  test('survives a service where one entry in twenty fails at any time', async () => {
    let seen = 0;
    const taken = new Set<string>();
    await using service = await startHostileService((response, call) => {
      const failing = namesOf(call).filter(() => ++seen % 20 === 0);
      for (const name of namesOf(call)) if (!failing.includes(name)) taken.add(name);
      take(Object.fromEntries(failing.map((name) => [name, 'InternalFailure'])))(response, call);
    });
    await busAt(service).put(hintsOf(400));
    expect(taken.size).toBe(400);
    const sent = service.calls.flatMap(namesOf).length;
    expect(sent).toBeGreaterThan(400);
    expect(sent).toBeLessThan(440);
  });

  test('waits longer after each failure, by chance, and never over five seconds', async () => {
    await using service = await startHostileService(refuse(400, 'ThrottlingException'));
    const waits = async (random: number) => {
      const slept: number[] = [];
      const sleep = async (milliseconds: number) => void slept.push(milliseconds);
      const clock = { now: () => 0, sleep };
      await expect(busAt(service, clock, () => random).put(hintsOf(1))).rejects.toThrow();
      return slept;
    };
    expect(await waits(1)).toEqual([100, 200, 400, 800, 1600, 3200, 5000]);
    expect(await waits(0)).toEqual(Array(7).fill(0));
  });
});

describe('a put gives up', () => {
  test('after eight tries of a bus that is always busy, and says so', async () => {
    await using service = await startHostileService(
      take({ w1: 'ThrottlingException', w2: 'ThrottlingException', w3: 'InternalFailure' }),
    );
    await expect(busAt(service).put(hintsOf(5))).rejects.toThrow(
      'PutEvents on bus "podless" did not take 3 of 5 entries in 8 tries: 2 ThrottlingException, 1 InternalFailure; not now',
    );
    expect(service.calls).toHaveLength(8);
  });

  test('in time for the watcher, whose own patience ends at 75 seconds', async () => {
    const clock = createTestClock();
    await using service = await startHostileService((response, call) => {
      clock.ahead += 20_000;
      refuse(503, 'ServiceUnavailable')(response, call);
    });
    const started = clock.now();
    await expect(busAt(service, clock).put(hintsOf(1))).rejects.toThrow(/ServiceUnavailable/);
    expect(clock.now() - started).toBeLessThan(75_000);
    expect(service.calls.length).toBeGreaterThan(1);
  });

  test('sooner on an entry that is wrong, after all others were taken', async () => {
    await using service = await startHostileService(take({ w1: 'MalformedDetail' }));
    await expect(busAt(service).put(hintsOf(12))).rejects.toThrow(
      /did not take 1 of 12 entries in 3 tries: 1 MalformedDetail/,
    );
    expect(service.calls.map(namesOf).slice(2)).toEqual([['w1'], ['w1']]);
  });

  test('sooner if it lacks the right, and shows who lacks which', async () => {
    const message = 'arn:aws:sts::1:assumed-role/x is not authorized to perform events:PutEvents';
    await using service = await startHostileService(refuse(400, 'AccessDeniedException', message));
    await expect(busAt(service).put(hintsOf(1))).rejects.toThrow(message);
    expect(service.calls).toHaveLength(3);
  });

  test('without a word of what the service repeats of our credentials', async () => {
    await using service = await startHostileService((response, call) => {
      const echo = `x-amz-security-token:${String(call.headers['x-amz-security-token'])}`;
      refuse(403, 'InvalidSignatureException', `The canonical string is ${echo}`)(response, call);
    });
    const failure = await busAt(service)
      .put(hintsOf(1))
      .catch((error: unknown) => error);
    expect(String(failure)).toContain('InvalidSignatureException');
    expect(inspect(failure, { depth: 9 })).not.toContain('token-of-the-test');
    expect(String(service.calls[0]?.headers['x-amz-security-token'])).toBe('token-of-the-test');
  });

  test('before the first call if a hint is too large for any', async () => {
    await using service = await startHostileService(take());
    const [hint] = hintsOf(1);
    const large = { ...(hint as Hint), reason: 'x'.repeat(300_000) };
    await expect(busAt(service).put([...hintsOf(1), large])).rejects.toThrow(
      /an entry of PutEvents on bus "podless" must have at most 262144 bytes, got 300\d\d\d/,
    );
    expect(service.calls).toEqual([]);
  });

  test('as soon as its signal aborts, in the middle of a call', async () => {
    await using service = await startHostileService(hang);
    const end = new AbortController();
    const pending = busAt(service).put(hintsOf(1), end.signal);
    const ending = pending.catch((error: unknown) => error);
    await until(async () => (service.calls.length === 1 ? true : undefined), {
      seconds: 10,
      what: async () => 'the call to arrive',
    });
    end.abort(new Error('the shift is over'));
    expect(await ending).toEqual(new Error('the shift is over'));
    expect(service.calls).toHaveLength(1);
  });

  test('as soon as its signal aborts, while it waits for the next try', async () => {
    await using service = await startHostileService(refuse(400, 'ThrottlingException'));
    const clock = createVirtualClock();
    const end = new AbortController();
    const pending = busAt(service, clock).put(hintsOf(1), end.signal);
    const ending = pending.catch((error: unknown) => error);
    await until(async () => (clock.timers === 1 ? true : undefined), {
      seconds: 10,
      what: async () => 'the first failure',
    });
    end.abort(new Error('the shift is over'));
    expect(await ending).toEqual(new Error('the shift is over'));
    expect(service.calls).toHaveLength(1);
  });
});
