import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CollectorPlane, startCollectorPlane } from '../helpers/collector-plane.ts';
import { encoded, kinds, specFor } from '../helpers/collector-system.ts';
import type { Answer, World } from '../helpers/runtime-world.ts';

let plane: CollectorPlane;
let world: World;

beforeAll(async () => {
  plane = await startCollectorPlane();
  world = plane.world();
});

afterAll(() => plane?.stop());

const planned = ({ plan = [] }: Answer) =>
  (plan as { action: string; subject: string }[]).map(
    ({ action, subject }) => `${action} ${subject}`,
  );

describe('a dry run', () => {
  test('of a new collector tells of namespace and objects, and makes none of them', async () => {
    await plane.create('dry', specFor('dry', 'token: a-token-of-ours'));
    expect(planned(await world.byHand('dry', { dryRun: true }))).toEqual([
      'create Namespace dry',
      'create Secret dry/collector-sample-one',
      'create ConfigMap dry/collector-sample-one',
      'create Deployment dry/collector-sample-one',
    ]);
    expect(
      await plane.admin.get({ kind: kinds.namespace, namespace: '', name: 'dry' }),
    ).toBeUndefined();
    expect((await plane.get('dry'))?.status).toBeUndefined();
    expect((await plane.get('dry'))?.metadata.finalizers).toBeUndefined();
  });

  test('of a change names the fields, but not what is in them', async () => {
    await plane.create('change', specFor('change', 'image: first-secret\ntoken: aaaa-secret'));
    await world.byHand('change');
    await plane.patch('change', {
      collector: {
        configuration: encoded('image: second-secret\ntoken: bbbb-secret\nreplicas: 7'),
      },
    });
    const before = await plane.get('change');
    const answer = await world.byHand('change', { dryRun: true });
    expect(planned(answer)).toContain('change Deployment change/collector-sample-one');
    const text = JSON.stringify(answer);
    expect(text).toContain('spec.replicas');
    expect(text).not.toMatch(/secret(?!s)|":7/);
    expect(await plane.get('change')).toEqual(before);
  });

  test('of a move tells what goes and what comes; of a deletion, what goes', async () => {
    await plane.create('move', specFor('move'));
    await world.byHand('move');
    await plane.patch('move', { tenant: { reference: 'moved' } });
    expect(planned(await world.byHand('move', { dryRun: true }))).toEqual([
      'create Namespace moved',
      'delete ConfigMap move/collector-sample-one',
      'delete Deployment move/collector-sample-one',
      'create ConfigMap moved/collector-sample-one',
      'create Deployment moved/collector-sample-one',
    ]);
    await plane.admin.delete(plane.ref('move'), {});
    const { plan } = await world.byHand('move', { dryRun: true });
    expect(plan).toHaveLength(2);
    expect(await plane.releaseNames()).toContain('move/collector-sample-one');
    await world.byHand('move');
    expect(await plane.releaseNames()).not.toContain('move/collector-sample-one');
  });
});

describe('a collector', () => {
  test('is tried again slowly while its chart is missing, and asks for nothing else meanwhile', async () => {
    await plane.create('waiting', specFor('waiting', '', { version: '9.9.9' }));
    const answer = await world.byHand('waiting');
    expect(answer).toMatchObject({
      outcome: 'waiting',
      reason:
        'chart s3://production-helm/charts/collector-sample-9.9.9.tgz was not found: there is no such object',
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Available', status: 'False', reason: 'ChartNotFound' }),
      ]),
    });
    expect(world.inbox.at(-1)?.delaySeconds).toBeGreaterThanOrEqual(10);
    expect(
      await plane.admin.get({ kind: kinds.namespace, namespace: '', name: 'waiting' }),
    ).toBeUndefined();
  });

  test('waits for a namespace that is being deleted', async () => {
    const finalizers = ['kubernetes'];
    await plane.admin.create(kinds.namespace, '', {
      metadata: { name: 'leaving' },
      spec: { finalizers },
    });
    // Nobody ends it here: there are no controllers.
    await plane.admin.delete({ kind: kinds.namespace, namespace: '', name: 'leaving' }, {});
    await plane.create('leaving', specFor('leaving'));
    expect(await world.byHand('leaving')).toMatchObject({
      outcome: 'waiting',
      reason: expect.stringContaining('namespace leaving is being deleted'),
    });
  });

  test('whose status was lost, as after a restore from a backup, still takes its release with it', async () => {
    await plane.create('restored', specFor('restored'));
    await world.byHand('restored');
    const { spec, metadata } = (await plane.get('restored')) ?? {};
    await plane.admin.mergePatch(plane.ref('restored'), { metadata: { finalizers: [] } });
    await plane.admin.delete(plane.ref('restored'), {});
    await plane.create('restored', spec as object);
    expect((await plane.get('restored'))?.metadata.uid).not.toBe(metadata?.uid);
    await plane.admin.mergePatch(plane.ref('restored'), {
      metadata: { finalizers: ['podless.dev/uninstall-release'] },
    });
    await plane.admin.delete(plane.ref('restored'), {});
    await world.byHand('restored');
    expect(await plane.releaseNames()).not.toContain('restored/collector-sample-one');
    expect(await plane.get('restored')).toBeUndefined();
  });

  test('that another run has moved meanwhile removes what it installed in the old place', async () => {
    await plane.create('overtaken', specFor('overtaken'));
    await world.byHand('overtaken');
    const slow = plane.world({
      ...plane.helm,
      reconcile: async (wanted, context) => {
        await plane.patch('overtaken', { tenant: { reference: 'overtaken-next' } });
        await world.byHand('overtaken');
        return plane.helm.reconcile(wanted, context);
      },
    });
    await slow.byHand('overtaken');
    const names = (await plane.releaseNames()).filter((name) => name.startsWith('overtaken'));
    expect(names).toEqual(['overtaken-next/collector-sample-one']);
  });
});
