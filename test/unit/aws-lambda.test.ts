import { describe, expect, test } from 'vitest';
import { cursorStore } from '../../runtime/aws/cursor-store.ts';
import { eventBus } from '../../runtime/aws/event-bus.ts';
import { onLambda } from '../../runtime/aws/lambda.ts';
import type { CloudPorts } from '../../runtime/aws/ports.ts';
import { inboxesOf, workQueuesOf } from '../../runtime/aws/queues.ts';
import type { CreateFunction, Platform } from '../../runtime/platform.ts';
import { createVirtualClock, settled } from '../helpers/cloud-clock.ts';
import { widgetOperator } from '../helpers/runtime-widget.ts';
import { invocationOf } from '../helpers/runtime-world.ts';

const complete = {
  AWS_REGION: 'eu-central-1',
  PODLESS_CLUSTERS: 'prod,test',
  PODLESS_BUS: 'podless',
  PODLESS_CURSOR_TABLE: 'podless-cursors',
  PODLESS_INBOX_WIDGET: 'https://sqs.eu-central-1.amazonaws.com/111122223333/podless-widget-inbox',
  PODLESS_WORK_WIDGET:
    'https://sqs.eu-central-1.amazonaws.com/111122223333/podless-widget-work.fifo',
};

const all: CloudPorts = {
  bus: eventBus,
  cursors: cursorStore,
  inboxes: inboxesOf([widgetOperator]),
  workQueues: workQueuesOf([widgetOperator]),
};

interface StartOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly ports?: CloudPorts;
  readonly write?: (text: string) => unknown;
}

/** A function on a Lambda of its own: its platform, its log, its clock. */
function start(createFunction: CreateFunction, options: StartOptions = {}) {
  const { environment = complete, ports = all } = options;
  const clock = createVirtualClock();
  const text: string[] = [];
  const write = options.write ?? ((line: string) => text.push(line));
  const handler = onLambda(createFunction, ports, { environment, clock, write });
  return {
    clock,
    invoke: (event: unknown = {}) => handler(event, invocationOf(clock, 900)),
    lines: () => text.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const platformOf = (options: StartOptions = {}): Platform => {
  let platform: Platform | undefined;
  start((given) => {
    platform = given;
    return async () => undefined;
  }, options);
  if (!platform) throw new Error('the function must be created at once');
  return platform;
};

describe('a function starts', () => {
  test.each([
    ['AWS_REGION', undefined, 'a region such as eu-central-1, got nothing'],
    ['AWS_REGION', 'Frankfurt', 'a region such as eu-central-1, got "Frankfurt"'],
    ['PODLESS_CLUSTERS', undefined, 'names of EKS clusters, separated by commas, got nothing'],
    ['PODLESS_CLUSTERS', '', 'names of EKS clusters, separated by commas, got ""'],
    ['PODLESS_CLUSTERS', 'a,,b', 'names of EKS clusters, separated by commas, got "a,,b"'],
    ['PODLESS_BUS', undefined, 'the name of an event bus, got nothing'],
    ['PODLESS_BUS', 'a b', 'the name of an event bus, got "a b"'],
    ['PODLESS_CURSOR_TABLE', undefined, 'the name of a DynamoDB table, got nothing'],
    ['PODLESS_INBOX_WIDGET', undefined, 'the URL of an SQS queue, got nothing'],
    ['PODLESS_INBOX_WIDGET', 'inbox', 'the URL of an SQS queue, got "inbox"'],
    ['PODLESS_WORK_WIDGET', undefined, 'the URL of an SQS queue, got nothing'],
    ['PODLESS_LOG_LEVEL', 'loud', 'debug, info or error, got "loud"'],
  ])('only if %s is right: not with %j', (name, value, expected) => {
    expect(() => platformOf({ environment: { ...complete, [name]: value } })).toThrow(
      `environment variable ${name} must be ${expected}`,
    );
  });

  test('without what it does not use', async () => {
    const { AWS_REGION, PODLESS_CLUSTERS } = complete;
    const platform = platformOf({ environment: { AWS_REGION, PODLESS_CLUSTERS }, ports: {} });
    const message = (port: string) => `port ${port} must be named in the handler.ts`;
    await expect(platform.bus.put([])).rejects.toThrow(message('bus'));
    await expect(platform.cursors.read('k')).rejects.toThrow(message('cursors'));
    await expect(platform.cursors.write('k', '1')).rejects.toThrow(message('cursors'));
    await expect(platform.cursors.clear('k')).rejects.toThrow(message('cursors'));
    expect(() => platform.inbox('widget')).toThrow(message('inboxes'));
    expect(() => platform.workQueue('widget')).toThrow(message('workQueues'));
  });

  test('with the clusters and queues that were named, and no others', () => {
    const platform = platformOf();
    expect(platform.clusters).toEqual(['prod', 'test']);
    expect(platform.kube('prod')).toBe(platform.kube('prod'));
    expect(platform.kube('test')).not.toBe(platform.kube('prod'));
    expect(() => platform.kube('dev')).toThrow('cluster must be one of prod, test, got "dev"');
    expect(platform.inbox('widget')).toBeDefined();
    expect(() => platform.inbox('gadget')).toThrow(
      'operator of inboxes must be one of widget, got "gadget"',
    );
    expect(() => platform.workQueue('gadget')).toThrow(/must be one of widget, got "gadget"/);
  });
});

describe('the log of a function', () => {
  test('is one line of JSON each, from the level that was asked for', async () => {
    const environment = { ...complete, PODLESS_LOG_LEVEL: 'error' };
    for (const [options, expected] of [
      [{}, ['two\nlines', 'bad']],
      [{ environment }, ['bad']],
    ] as const) {
      const { invoke, lines } = start(
        ({ log }) =>
          async () => {
            log.debug('hidden');
            log.info('two\nlines', { big: 12n });
            log.error('bad');
          },
        options,
      );
      await invoke();
      expect(lines().map(({ message }) => message)).toEqual(expected);
    }
  });

  test('and its metrics cannot fail the work', async () => {
    const { invoke } = start(
      ({ log, metrics }) =>
        async () => {
          log.info('a');
          metrics.count('podless_resync_sent_total', { cluster: 'prod', kind: 'Widget' });
          return 'done';
        },
      {
        write: () => {
          throw new Error('EPIPE');
        },
      },
    );
    expect(await invoke()).toBe('done');
  });
});

describe('the metrics of a function', () => {
  const counting =
    (work: (platform: Platform) => Promise<unknown>): CreateFunction =>
    (platform) =>
    async () => {
      platform.metrics.count('podless_resync_sent_total', { cluster: 'prod', kind: 'Widget' });
      return work(platform);
    };
  const sums = (lines: readonly Record<string, unknown>[]) =>
    lines.map((line) => line['podless_resync_sent_total']);

  test('are written at the end of each run', async () => {
    const { invoke, lines } = start(counting(async () => 'answer'));
    expect(await invoke()).toBe('answer');
    await invoke();
    expect(sums(lines())).toEqual([1, 1]);
  });

  test('are written also if the run fails, and its error stays what it was', async () => {
    const { invoke, lines } = start(counting(() => Promise.reject(new Error('broken'))));
    await expect(invoke()).rejects.toThrow('broken');
    expect(sums(lines())).toEqual([1]);
  });

  test('are written every minute of a long run, and leave no timer behind', async () => {
    const { clock, invoke, lines } = start(
      counting(async ({ metrics, clock: { sleep } }) => {
        await sleep(90_000);
        metrics.count('podless_resync_sent_total', { cluster: 'prod', kind: 'Widget' }, 2);
        await sleep(60_000);
        metrics.count('podless_resync_sent_total', { cluster: 'prod', kind: 'Widget' }, 4);
      }),
    );
    const run = invoke();
    await clock.advance(59_000);
    expect(sums(lines())).toEqual([]);
    await clock.advance(1_000);
    expect(sums(lines())).toEqual([1]);
    await clock.advance(90_000);
    await run;
    await settled();
    expect(sums(lines())).toEqual([1, 2, 4]);
    expect(clock.timers).toBe(0);
    await clock.advance(600_000);
    expect(lines()).toHaveLength(3);
  });
});
