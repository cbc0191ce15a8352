import { describe, expect, test } from 'vitest';
import { createDeadline } from '../../runtime/deadline.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { InvalidRequestError, parseByHand, parseHint } from '../../runtime/request.ts';
import { made, reconcilerOf, widgetKind, widgetOperator } from '../helpers/runtime-widget.ts';
import { createWorld, recordOf } from '../helpers/runtime-world.ts';

const unused = async (): Promise<never> => {
  throw new Error('must not be called');
};

/** Holds one Widget that is as it should be; takes any status. */
function createTinyKube(): KubeClient & { object: KubeObject | undefined } {
  const kube = {
    object: {
      apiVersion: 'test.podless.dev/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 },
      spec: { size: 1 },
    } as KubeObject | undefined,
    get: async () => kube.object,
    apply: async (_ref: unknown, body: object) => {
      if (!kube.object) throw new Error('there must be an object');
      kube.object = { ...kube.object, ...body, metadata: kube.object.metadata };
      return kube.object;
    },
    create: async () => kube.object as KubeObject,
    list: unused,
    watch: unused,
    mergePatch: unused,
    delete: unused,
    serverVersion: unused,
  };
  return kube;
}

const worldOf = (kube: KubeClient) =>
  createWorld({
    operator: widgetOperator,
    kube,
    reconciler: reconcilerOf(async (object) => made(object)),
  });

describe('the handler', () => {
  test('serves queue, bus and hand through the same door', async () => {
    const kube = createTinyKube();
    const world = worldOf(kube);
    const { body } = recordOf(widgetOperator, 'w');
    await world.batch(recordOf(widgetOperator, 'w'));
    await world.invoke({ 'detail-type': 'Widget', detail: JSON.parse(body) });
    await world.byHand('w');
    expect(world.outcomes().map((line) => [line['trigger'], line['changed']])).toEqual([
      ['Changed', true],
      ['Changed', false],
      ['InvokedByHand', false],
    ]);
    expect(world.counters.get('podless_status_writes_total widget')).toBe(1);
  });

  test('marks every line with request, run, cluster and object', async () => {
    const world = worldOf(createTinyKube());
    await world.byHand('w', { cluster: 'other' });
    for (const line of world.lines) {
      expect(line).toMatchObject({
        operator: 'widget',
        requestId: 'request-1',
        reconcileId: expect.any(String),
        cluster: 'other',
        object: { kind: 'Widget', namespace: 'default', name: 'w' },
      });
    }
  });

  test('gives each run an id of its own', async () => {
    const world = worldOf(createTinyKube());
    await world.byHand('w');
    await world.byHand('w');
    expect(new Set(world.outcomes().map((line) => line['reconcileId'])).size).toBe(2);
  });
});

describe('a request', () => {
  const hint = JSON.parse(recordOf(widgetOperator, 'w').body) as Record<string, unknown>;

  test('by hand is for the default namespace and the first cluster, and no dry run', () => {
    expect(parseByHand({ name: 'w' })).toEqual({
      namespace: 'default',
      name: 'w',
      dryRun: false,
      reason: 'InvokedByHand',
      hops: 0,
    });
  });

  test('by hint keeps cluster, reason and hops, and is never a dry run', () => {
    expect(parseHint({ ...hint, hops: 3, dryRun: true }, widgetOperator)).toMatchObject({
      cluster: 'main',
      reason: 'Changed',
      dryRun: false,
      hops: 3,
    });
  });

  test.each([
    ['an empty name', { ...hint, name: '' }],
    ['no namespace', { ...hint, namespace: undefined }],
    ['a cluster that is no text', { ...hint, cluster: 7 }],
    ['another version', { ...hint, apiVersion: 'test.podless.dev/v2' }],
    ['another kind', { ...hint, kind: 'Gadget' }],
    ['a list', []],
    ['a text', 'text'],
  ])('fails by hint for %s', (_, payload) => {
    expect(() => parseHint(payload, widgetOperator)).toThrow(InvalidRequestError);
  });

  test('counts hops that make no sense as none', () => {
    for (const hops of ['7', -1, null, Number.NaN, {}]) {
      expect(parseHint({ ...hint, hops }, widgetOperator).hops).toBe(0);
    }
  });

  test('tells the kind that the function serves', () => {
    expect(() => parseHint({ ...hint, kind: 'Gadget' }, widgetOperator)).toThrow(widgetKind.kind);
  });
});

describe('the deadline', () => {
  const deadlineOf = (milliseconds: number) =>
    createDeadline(
      { awsRequestId: '', functionName: '', getRemainingTimeInMillis: () => milliseconds },
      1_000,
    );

  test.each([
    [900_000, 30_000],
    [60_000, 18_000],
    [5_000, 1_500],
    [0, 0],
    [-5, 0],
  ])('of a run with %d ms left leaves %d ms to wind up', (left, windUp) => {
    const deadline = deadlineOf(left);
    expect(deadline.windUpMilliseconds).toBe(windUp);
    expect(deadline.at).toBe(1_000 + Math.max(left, 0));
  });
});
