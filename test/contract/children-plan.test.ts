import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Child } from '../../runtime/children/child.ts';
import { removeChildren, syncChildren } from '../../runtime/children/sync.ts';
import {
  type ChildrenWorld,
  childOf,
  configMapChild,
  deploymentChild,
  deploymentKind,
  refTo,
  secretKind,
  startChildrenWorld,
} from '../helpers/children-world.ts';
import { configMapKind } from '../helpers/runtime-widget.ts';

let world: ChildrenWorld;

beforeAll(async () => {
  world = await startChildrenWorld();
});

afterAll(() => world?.stop());

describe('a dry run', () => {
  const secretChild = (name: string, data: Readonly<Record<string, string>>): Child => ({
    kind: secretKind,
    name,
    content: { data },
  });

  test('tells what would be made, changed field by field, or removed, and writes nothing', async () => {
    const owner = await world.widgets.create('planned');
    const sync = (replicas: number, dryRun: boolean) =>
      syncChildren(
        owner,
        [
          childOf(owner, deploymentChild('planned', replicas)),
          childOf(owner, configMapChild('planned', {})),
        ],
        world.context({ dryRun }),
      );
    const plans = async (replicas: number) => (await sync(replicas, true)).map(({ plan }) => plan);
    const writes = await world.writesDuring(async () => {
      expect(await plans(2)).toEqual([
        {
          action: 'create',
          subject: 'Deployment default/planned',
          detail: 'does not exist yet',
        },
        { action: 'create', subject: 'ConfigMap default/planned', detail: 'does not exist yet' },
      ]);
    });
    expect(writes).toEqual([]);
    await sync(2, false);
    await world.admin.mergePatch(refTo(deploymentKind, 'planned'), {
      metadata: { labels: { app: null } },
    });
    const more = await world.writesDuring(async () => {
      const [deployment, untouched] = await plans(5);
      expect(deployment).toMatchObject({ action: 'change', subject: 'Deployment default/planned' });
      expect(deployment?.fields).toEqual(
        expect.arrayContaining([
          { path: 'spec.replicas', from: 2, to: 5 },
          { path: 'metadata.labels.app', to: 'planned' },
        ]),
      );
      expect(untouched).toMatchObject({ action: 'none' });
      const ref = refTo(configMapKind, 'planned');
      const live = await world.kube.get(ref);
      if (!live) throw new Error('there must be a ConfigMap');
      const dry = world.context({ dryRun: true });
      expect(await removeChildren(owner, [{ ref, live }], dry)).toMatchObject([
        { action: 'delete', subject: 'ConfigMap default/planned' },
      ]);
    });
    expect(more).toEqual([]);
    expect(await world.admin.get(refTo(configMapKind, 'planned'))).toBeDefined();
  });

  test.each([
    ['a changed value', { password: 'b2xk' }],
    ['a whole map', undefined],
    ['a removed one', { password: 'bmV3', token: 'b2xk' }],
  ])('hides what a Secret holds: %s', async (what, before) => {
    const name = `hidden-${what.replaceAll(' ', '-')}`;
    const owner = await world.widgets.create(name);
    const manifest = (data: Readonly<Record<string, string>>) => [
      childOf(owner, secretChild(name, data)),
    ];
    await syncChildren(owner, manifest(before ?? {}), world.context());
    const [planned] = await syncChildren(
      owner,
      manifest({ password: 'bmV3' }),
      world.context({ dryRun: true }),
    );
    expect(planned?.plan).toMatchObject({
      action: 'change',
      detail: expect.stringContaining('data'),
    });
    expect(JSON.stringify(planned?.plan)).toContain('(hidden)');
    expect(JSON.stringify(planned?.plan)).not.toMatch(/bmV3|b2xk/);
  });
});
